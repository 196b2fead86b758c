// The packages as users get them: packed, installed into an empty project, used in every way.

import { execFile } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals'
import { toCommonJs } from '@sluice/site/code-forms'
import { type PostgresServer, startPostgres, whyNoPostgres } from '@sluice/test-harness/postgres'
import { freePorts, type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { installCompilers, problemsOf, VERSIONS } from './compilers.ts'
import { writeDocumented } from './documented.ts'
import { EXAMPLES, FRAMEWORKS, IN_REDIS, limitOf, writeExamples } from './examples.ts'
import { followBudgets } from './follow-budgets.ts'
import { followExample } from './follow-example.ts'
import { installExamples } from './follow-readme.ts'
import { statusesOf } from './serve-example.ts'

const workspace = resolve(import.meta.dirname, '../../../..')
const consumer = join(import.meta.dirname, 'consumer')

let project: string
/** The path of each Node by its name: this one and the newest. CI runs this file on all that are supported. */
let nodes: Record<string, string>
/** What the dry run of a release prints. */
let released: string

/** npm may have to fetch what the empty project needs, and other versions of Node. */
const setupTimeout = 1_800_000

function read(...path: string[]): string {
  return readFileSync(join(...path), 'utf8')
}

/** Standard output. Rejects with all output where the command fails. */
async function run(cwd: string, command: string, args: string[]): Promise<string> {
  try {
    return (await promisify(execFile)(command, args, { cwd })).stdout
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${command} ${args.join(' ')}\n${stdout}\n${stderr}`)
  }
}

const tool = (name: string) => join(workspace, 'node_modules', '.bin', name)
const script = (name: string, ...args: string[]) =>
  run(workspace, process.execPath, [join('scripts', name), ...args])

beforeAll(async () => {
  project = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-consumer-')))
  const npm = (...args: string[]) => run(tmpdir(), 'npm', args)
  const results = await Promise.all([
    script('release.mjs', '--dry-run', '--project', project),
    npm(
      'exec',
      '--yes',
      '--prefer-offline',
      '--package=node@26',
      '--',
      'node',
      '-p',
      'process.execPath',
    ),
  ])
  released = results[0]
  nodes = { [process.version]: process.execPath, 'node 26': results[1].trim() }
}, setupTimeout)

afterAll(() => rmSync(project, { recursive: true, force: true }))

describe('a release', () => {
  it('passes its dry run, which installs the packages here', () => {
    expect(released).toContain('packages can be published')
    for (const name of [
      'core',
      ...FRAMEWORKS,
      'http',
      'transactional',
      'postgres',
      'mysql',
      'dynamodb',
      'sqlite',
      'outgoing',
      'budget',
      'mcp',
      'meter',
      'otel',
      'cli',
      'migrate',
      'test-suites',
    ])
      expect(released).toContain(`@sluice/${name} `)
  })

  it('takes place in its workflow alone', async () => {
    await expect(script('release.mjs')).rejects.toThrow('Only the workflow release of https://')
  })

  it('does not take a package that is not complete', async () => {
    const broken = {
      name: 'core',
      files: ['package.json', 'README.md', 'dist/a.test.js'],
      readme: '[options](../../docs/options.md)',
      manifest: {
        ...JSON.parse(read(workspace, 'packages/core/package.json')),
        repository: 'https://example.com',
        exports: { '.': { import: './dist/index.js' } },
        publishConfig: { access: 'public' },
        dependencies: { '@sluice/express': 'workspace:^' },
      },
    }
    const print = `import { problemsOf } from './scripts/release/metadata.mjs'
      console.log(problemsOf(${JSON.stringify(broken)}).join('\\n'))`
    const args = ['--input-type=module', '--eval', print]
    const problems = (await run(workspace, process.execPath, args)).trim().split('\n')
    expect(problems).toEqual([
      '@sluice/core: repository is not that of the project',
      '@sluice/core: publishConfig.provenance is not true',
      '@sluice/core: dist/index.js is missing',
      '@sluice/core: has README.md,package.json beside dist',
      '@sluice/core: has dist/a.test.js',
      '@sluice/core: depends on @sluice/express@workspace:^',
      '@sluice/core: depends on @sluice/express@workspace:^',
      '@sluice/core: its README has relative links',
    ])
  })
})

describe('the first example of a README or start page, pasted', () => {
  let folder: string
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
    folder = join(project, 'pasted')
    writeExamples(workspace, folder)
    const typed = [...EXAMPLES.map((name) => `typed/${name}.mts`), 'typed/nest.cts']
    const strict = ['--strict', '--experimentalDecorators', '--types', 'node']
    const options = [...strict, '--module', 'nodenext', '--target', 'es2022']
    const ofKoa = typed.filter((file) => file.includes('koa'))
    const others = typed.filter((file) => !ofKoa.includes(file))
    await run(folder, tool('tsc'), [...options, '--skipLibCheck', 'false', ...others])
    await run(folder, tool('tsc'), [...options, '--skipLibCheck', ...ofKoa])
  })

  afterAll(() => redis.stop())

  let databases = 0
  /** Each run has a database of its own. */
  function pasted(node: string, name: string, file: string): Promise<number[]> {
    const url = `${redis.url}/${IN_REDIS.includes(name) ? databases++ : 0}`
    const env = { ...process.env, REDIS_URL: url }
    return statusesOf(node, join(folder, file), limitOf(workspace, name), env)
  }

  // In one form on each Node, as ESM or as CommonJS, and a start page in the other: so each framework
  // runs in both forms on each Node. Nest has no start page and runs in both.
  test.each(EXAMPLES)('refuses after its limit, on this Node and the newest: %s', async (name) => {
    // With decorators, both forms are the compiler's.
    const forms =
      name === 'nest' ? ['typed/nest.mjs', 'typed/nest.cjs'] : [`${name}.mjs`, `${name}.cjs`]
    const first = Number(name.startsWith('start-'))
    const runs = Object.entries(nodes).flatMap(([version, node], i) => {
      const own = name === 'nest' ? forms : [forms[(first + i) % 2] as string]
      return own.map(async (form) => [version, form, ...(await pasted(node, name, form))])
    })
    for (const run of await Promise.all(runs)) expect(run).toEqual([run[0], run[1], 200, 429])
  })
})

describe('an example, outside of the repository', () => {
  const examples = readdirSync(join(workspace, 'examples'))
  let redis: RedisServer
  let postgres: PostgresServer | undefined
  beforeAll(async () => {
    redis = await startRedis()
    if (whyNoPostgres() === undefined) postgres = await startPostgres()
    await installExamples(join(workspace, 'examples'), project, (...args) =>
      run(tmpdir(), 'npm', args),
    )
  }, setupTimeout)
  afterAll(async () => {
    await redis.stop()
    await postgres?.stop()
  })

  it.each(examples)(
    'does what its README shows: %s',
    async (name) => {
      if (postgres === undefined && name === 'postgres') return
      const example = join(workspace, 'examples', name)
      const folder = join(project, 'examples', name)
      await followExample(example, folder, { redis, postgres }, { env: process.env })
      await run(folder, tool('tsc'), [])
    },
    180_000,
  )
})

describe('an empty project that installs the packages', () => {
  it('bundles them for a runtime without Node', async () => {
    copyFileSync(join(consumer, 'worker.mjs'), join(project, 'worker.mjs'))
    const options = ['--bundle', '--platform=browser', '--conditions=worker', '--format=esm']
    await run(project, tool('esbuild'), ['worker.mjs', ...options, '--outfile=bundled.mjs'])
    const { statuses } = JSON.parse(await run(project, process.execPath, ['bundled.mjs']))
    expect(statuses).toEqual([200, 200, 429])
    // The limiter for Node's own messages is not in it.
    expect(read(project, 'bundled.mjs')).not.toMatch(/node:|ServerResponse|createHmac/)
  })

  /** Runs a module of the consumer, or the same as CommonJS. */
  function runModule(file: string, ...options: string[]): Promise<string> {
    const text = read(consumer, file.replace('.cjs', '.mjs'))
    const code = file.endsWith('.cjs') ? (toCommonJs(text) as string) : text
    writeFileSync(join(project, file), code)
    return run(project, process.execPath, [...options, file])
  }

  it.each(['otel.mjs', 'otel.cjs'])('measures with OpenTelemetry: %s', async (file) => {
    const counts = JSON.parse(await runModule(file))
    expect(counts).toEqual({ admitted: 2, refused: 1 })
  })

  const remote = ['remote-stores.mjs', 'remote-stores.cjs']
  it.each(remote)('has a store in PostgreSQL, MySQL and DynamoDB: %s', async (file) => {
    const { sources } = JSON.parse(await runModule(file))
    expect(sources).toEqual(['local', 'local', 'local'])
  })

  it.each(['sqlite.mjs', 'sqlite.cjs'])('has a store in SQLite: %s', async (file) => {
    const { found } = JSON.parse(await runModule(file, '--no-warnings'))
    const hasSqlite = process.getBuiltinModule('node:sqlite') !== undefined
    expect(found).toBe(hasSqlite ? 'store' : 'SLUICE_SQLITE_MISSING')
  })

  it('has one copy of what the entries of core share', async () => {
    copyFileSync(join(consumer, 'shared.cjs'), join(project, 'shared.cjs'))
    const shared = JSON.parse(await run(project, process.execPath, ['shared.cjs']))
    expect(shared).toEqual(Array(6).fill(true))
  })

  it('decides the same in memory and in Redis', async () => {
    const redis = await startRedis()
    try {
      copyFileSync(join(consumer, 'parity.mjs'), join(project, 'parity.mjs'))
      const found = JSON.parse(await run(project, process.execPath, ['parity.mjs', redis.url]))
      expect(found).toEqual({ same: 480, different: [] })
    } finally {
      await redis.stop()
    }
  })

  it('becomes a gateway that refuses the 21st dollar, as docs/budgets.md says', async () => {
    const folder = join(project, 'gateway')
    mkdirSync(folder)
    const [gateway, provider] = (await freePorts(2)) as [number, number]
    const { installed, printed, shown } = await followBudgets(folder, [gateway, provider])
    expect(installed).toEqual(['express', '@sluice/budget'])
    expect(printed).toBe(shown)
    expect(printed).toMatch(/ 1 429\n$/)
  })

  it('runs the command', async () => {
    const line = '203.0.113.7 - - [21/Nov/2026:14:33:45 +0000] "GET / HTTP/1.1" 200 512\n'
    writeFileSync(join(project, 'requests.txt'), line.repeat(3))
    writeFileSync(join(project, 'limit.ts'), "export default { limit: 2, window: '1m' as const }\n")
    const outputs = ['--html', 'report.html', '--json']
    const args = ['sluice', 'replay', 'requests.txt', '--config', 'limit.ts', ...outputs]
    const { runs } = JSON.parse(await run(project, 'npx', args))
    expect(runs).toMatchObject([{ name: 'limit.ts', admitted: 2, refused: 1 }])
    expect(read(project, 'report.html')).toContain('uplot')
  })

  it.each([
    [
      ['types', 'fastify', 'node', 'hono', 'nest', 'postgres', 'mysql', 'dynamodb', 'sqlite'],
      'false',
      ['--types', 'node'],
    ],
    // A worker has no types of Node.
    [['fetch'], 'false', []],
    // @types/koa 3.0 itself does not compile together with content-disposition 2, which express brings.
    [['koa'], 'true', ['--types', 'node']],
  ])('compiles against them, as ESM and as CommonJS: %s', async (sources, skipLibCheck, types) => {
    const files = sources.flatMap((source) => [`${source}.mts`, `${source}.cts`])
    for (const file of files)
      copyFileSync(join(consumer, file.replace(/[mc]ts$/, 'ts')), join(project, file))
    const options = ['--noEmit', '--strict', '--skipLibCheck', skipLibCheck, '--module', 'nodenext']
    await run(project, tool('tsc'), [...options, '--target', 'es2022', ...types, ...files])
  })

  describe('and a compiler', () => {
    beforeAll(async () => {
      await installCompilers(project, consumer, (...args) => run(tmpdir(), 'npm', args))
    }, setupTimeout)

    it.each(VERSIONS)(
      'finds their types, however it resolves modules: TypeScript %s',
      async (version) => {
        const problems = await problemsOf(project, version, run)
        expect(Object.keys(problems)).not.toEqual([])
        for (const found of Object.values(problems)) expect(found).toEqual([])
      },
      120_000,
    )
  })

  it('passes the suites with node:test: the stores and the adapter of the docs', async () => {
    const folder = join(project, 'documented')
    const tests = writeDocumented(workspace, folder)
    await passes(folder, tests)
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022']
    const typed = ['--allowImportingTsExtensions', '--types', 'node']
    await run(folder, tool('tsc'), [...options, ...typed, ...tests])
  })

  it('passes the suite of adapters with node:test: Nest 12 on Fastify', async () => {
    const sources = join(workspace, 'packages/nest/src/testing')
    const folder = join(project, 'nest')
    mkdirSync(folder)
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n')
    const compilerOptions = { experimentalDecorators: true }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
    for (const file of ['kits.ts', 'packed-suite.ts'])
      writeFileSync(
        join(folder, file),
        read(sources, file).replace("'../index.ts'", "'@sluice/nest'"),
      )
    expect(read(project, 'node_modules/@nestjs/core/package.json')).toMatch(/"version": "12\./)
    await passes(folder, ['packed-suite.ts'])
  })
})

/** Runs test files of node:test, which must have hundreds of tests that all pass. */
async function passes(folder: string, tests: string[]): Promise<void> {
  const loader = pathToFileURL(require.resolve('tsx')).href
  const args = ['--import', loader, '--test', '--test-reporter', 'tap', ...tests]
  const output = await run(folder, process.execPath, args)
  expect(output).toMatch(/^# fail 0$/m)
  expect(Number(/^# pass (\d+)$/m.exec(output)?.[1])).toBeGreaterThan(200)
}
