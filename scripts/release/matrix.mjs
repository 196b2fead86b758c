// Uses the tarballs on each supported Node with each package manager, as users do: an empty workspace installs
// them, imports all of them, runs the program of each start page and follows the README of each example. Each
// member of the workspace finds only what it declares.

import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { env as environment } from 'node:process'
import { promisify } from 'node:util'
import { transformSync } from 'esbuild'
import { tsImport } from 'tsx/esm/api'
import { secondsSince } from '../log.mjs'
import { outputOf } from '../programs/npm.mjs'
import { root } from '../workspace.mjs'
import { PEERS, smokeTest } from './project.mjs'

const load = (path) => tsImport(`../../packages/${path}`, import.meta.url)
const { exampleOf, limitOf } = await load('system-tests/src/packages/examples.ts')
const { followExample } = await load('system-tests/src/packages/follow-example.ts')
const { statusesOf } = await load('system-tests/src/packages/serve-example.ts')
const { startRedis } = await load('test-harness/src/redis/index.ts')
const { startPostgres } = await load('test-harness/src/postgres/index.ts')

const NODES = ['node@20', 'node@22', 'node@24', 'node@26']
/** The package that brings each package manager, how it installs, and how it runs a command of a package. */
const MANAGERS = {
  // As it comes with Node.
  npm: {
    wanted: (node) => (node < 'node@24' ? 'npm@10' : 'npm@11'),
    install: ['install', '--no-audit', '--no-fund'],
    exec: ['exec', '--'],
  },
  // The newest one that runs there.
  pnpm: {
    wanted: (node) => (node === 'node@20' ? 'pnpm@10' : 'pnpm@12'),
    install: ['install', '--no-frozen-lockfile'],
    exec: ['exec'],
  },
  yarn: {
    wanted: () => '@yarnpkg/cli-dist@4',
    install: ['install', '--no-immutable'],
    exec: ['run'],
  },
}

const PAGES = readdirSync(join(root, 'docs/start')).map((file) => basename(file, '.md'))
const EXAMPLES = readdirSync(join(root, 'examples'))
/** What the start page for Nest has from `nest new`. */
const OF_NEST = ['common', 'core', 'platform-express'].map((name) => `@nestjs/${name}`)
const FRAMEWORK = { nest: [...OF_NEST, 'reflect-metadata', 'rxjs'] }

/**
 * @param folder where there is room
 * @param packed what `pack` returns
 * @returns a row for each Node and package manager, and one line for each problem
 */
export async function playMatrix(folder, packed) {
  const redis = await startRedis()
  const postgres = await startPostgres()
  const rows = []
  const problems = []
  try {
    for (const node of NODES)
      for (const manager of Object.keys(MANAGERS)) {
        const cell = await cellOf(folder, node, manager)
        const { row, found } = await play(cell, packed, { redis, postgres })
        rows.push(row)
        problems.push(...found.map((problem) => `${row.node}, ${row.manager}: ${problem}`))
        console.log([...Object.values(row), ...found].join('\n  '))
      }
  } finally {
    await redis.stop()
    await postgres.stop()
  }
  return { rows, problems }
}

/** A folder with a Node and a package manager that finds no other tools and no caches of this machine. */
async function cellOf(folder, wantedNode, manager) {
  const { wanted, ...ways } = MANAGERS[manager]
  const path = join(folder, `${wantedNode}-${manager}`)
  const bin = join(path, '.bin')
  mkdirSync(bin, { recursive: true })
  const link = (name, wants, ...command) => {
    const target = outputOf(wants, ...command)
    if (target === undefined) throw new Error(`npm cannot bring ${wants}`)
    symlinkSync(target, join(bin, name))
  }
  link('node', wantedNode, 'node', '-p', 'process.execPath')
  link(manager, wanted(wantedNode), 'which', manager)
  const own = Object.entries(environment).filter(
    ([name]) => !/^(npm_.*|node_options|init_cwd)$/i.test(name),
  )
  const env = {
    ...Object.fromEntries(own),
    PATH: [bin, '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
    npm_config_cache: join(folder, 'caches/npm'),
    XDG_CACHE_HOME: join(folder, 'caches/cache'),
    XDG_DATA_HOME: join(folder, 'caches/data'),
    YARN_GLOBAL_FOLDER: join(folder, 'caches/yarn'),
    // Nest 11 finds no platform in Yarn's archives when tsx runs it.
    YARN_NODE_LINKER: 'node-modules',
  }
  const run = async (command, ...args) =>
    (await promisify(execFile)(command, args, { cwd: path, env })).stdout.trim()
  return { path, manager, ...ways, env, run }
}

/**
 * One installation for all, whose members are as a user has them: the first one with all packages, one for each
 * start page, and the examples. What they ask for of Sluice is a tarball.
 */
function writeWorkspace(path, packed) {
  const write = (file, text) => {
    mkdirSync(dirname(join(path, file)), { recursive: true })
    writeFileSync(join(path, file), typeof text === 'string' ? text : JSON.stringify(text, null, 2))
  }
  const members = ['packages', 'start/*', 'examples/*']
  const tarballs = Object.fromEntries(
    packed.map(({ manifest, path: file }) => [manifest.name, `file:${file}`]),
  )
  write('package.json', {
    name: 'users',
    private: true,
    workspaces: members,
    overrides: tarballs,
    resolutions: tarballs,
  })
  // Yarn takes a folder above that has a manifest for the project, unless there is a lock file.
  write('yarn.lock', '')
  const pnpm = { packages: members, overrides: tarballs, strictDepBuilds: false }
  write('pnpm-workspace.yaml', pnpm)

  const ranges = Object.fromEntries(
    packed.map(({ manifest: { name, version } }) => [name, `^${version}`]),
  )
  const member = (folder, wanted) => {
    const dependencies = wanted.map((each) => {
      const [, name, range] = /^(.+?)(?:@([^/]*))?$/.exec(each)
      return [name, range ?? ranges[name] ?? '*']
    })
    const name = folder.replace('/', '-')
    write(`${folder}/package.json`, {
      name,
      private: true,
      dependencies: Object.fromEntries(dependencies),
    })
  }
  member('packages', [...PEERS, ...Object.keys(tarballs)])
  for (const page of PAGES) {
    const [, install] = /^npm install (.*)$/m.exec(pageOf(page))
    member(`start/${page}`, [...(FRAMEWORK[page] ?? []), ...install.split(' ')])
    const options = {
      loader: 'ts',
      tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
    }
    const { code } = transformSync(exampleOf(root, `start-${page}`), options)
    write(`start/${page}/server.mjs`, code)
  }
  const filter = (file) => basename(file) !== 'node_modules'
  cpSync(join(root, 'examples'), join(path, 'examples'), { recursive: true, filter })
}

const pageOf = (name) => readFileSync(join(root, 'docs/start', `${name}.md`), 'utf8')

/** Whether a version of Node is one that the page asks for. */
function isNewEnough(node, page) {
  const [, least] = /Node (\d+\.\d+) or later/.exec(pageOf(page))
  return node.slice(1).localeCompare(least, 'en', { numeric: true }) >= 0
}

/** Returns the results of a Node with a package manager, and what went wrong. */
async function play({ path, manager, install, exec, env, run }, packed, stores) {
  const began = Date.now()
  const found = []
  /** How many of them pass. */
  const count = async (names, passes) => {
    const before = found.length
    for (const name of names)
      await passes(name).catch((error) => found.push(`${name}: ${textOf(error)}`))
    const failed = found.length - before
    return failed === 0 ? names.length : `${names.length - failed} of ${names.length}`
  }
  const node = await run('node', '--version')
  const row = { node, manager: `${manager} ${await run(manager, '--version')}` }
  writeWorkspace(path, packed)
  try {
    await run(manager, ...install)
  } catch (error) {
    return { row: { ...row, packages: 'not installed' }, found: [textOf(error)] }
  }

  const how = {
    node: join(path, '.bin/node'),
    env,
    commandOf: (_, [bin]) => [manager, ...exec, bin],
  }
  const works = await count(['packages'], async () => {
    const problems = smokeTest(join(path, 'packages'), packed, how)
    if (problems.length > 0) throw new Error(problems.join('\n'))
  })
  row.packages = works === 1 ? packed.length : 'fail'
  const urls = {
    REDIS_URL: stores.redis.url,
    DATABASE_URL: stores.postgres.url,
    LIMITS: join(path, 'limits.db'),
  }
  const pages = PAGES.filter((page) => isNewEnough(node, page))
  row['start pages'] = await count(pages, async (page) => {
    await stores.redis.command('FLUSHALL')
    const file = join(path, 'start', page, 'server.mjs')
    const limit = limitOf(root, `start-${page}`)
    const statuses = await statusesOf(how.node, file, limit, { ...env, ...urls })
    if (statuses.join() !== '200,429') throw new Error(`answers ${statuses}`)
  })
  row.examples = await count(EXAMPLES, (name) => {
    const [example, folder] = [root, path].map((each) => join(each, 'examples', name))
    return followExample(example, folder, stores, { env, manager })
  })
  return { row: { ...row, took: secondsSince(began) }, found }
}

const textOf = ({ message, stdout = '', stderr = '' }) =>
  [message, stdout, stderr].join('\n').trim()
