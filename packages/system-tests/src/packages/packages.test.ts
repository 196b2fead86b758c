// The packages as users get them: packed, installed into an empty project, used in every way.

import { execFile } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { writeDocumented } from './documented.ts'

const workspace = resolve(import.meta.dirname, '../../../..')
const consumer = join(import.meta.dirname, 'consumer')
const packages = readdirSync(join(workspace, 'packages'))
  .map((name) => join(workspace, 'packages', name))
  .filter((folder) => existsSync(join(folder, 'tsconfig.build.json')))
const manifests = packages.map(
  (folder) => JSON.parse(read(folder, 'package.json')) as { name: string; exports?: unknown },
)
const names = manifests.map(({ name }) => name)
/** The others are commands. */
const libraries = manifests.filter(({ exports }) => exports !== undefined).map(({ name }) => name)

let project: string

/** Two minutes: npm may have to fetch what the empty project needs. */
const setupTimeout = 120_000

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

function newest(folder: string): number {
  const files = existsSync(folder) ? readdirSync(folder, { recursive: true }) : []
  return Math.max(0, ...files.map((file) => statSync(join(folder, String(file))).mtimeMs))
}

function isBuilt(folder: string): boolean {
  return newest(join(folder, 'dist')) > newest(join(folder, 'src'))
}

function tarball(name: string): string {
  const start = `${name.slice(1).replace('/', '-')}-`
  return join(project, String(readdirSync(project).find((file) => file.startsWith(start))))
}

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'sluice-consumer-'))
  if (!packages.every(isBuilt)) await script('build.mjs')
  const filters = names.flatMap((name) => ['--filter', name])
  await script('pnpm.mjs', ...filters, '-r', 'pack', '--pack-destination', project)
  writeFileSync(join(project, 'package.json'), '{ "private": true }\n')
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline']
  const otel = ['@opentelemetry/api@~1.9.0', '@opentelemetry/sdk-metrics@2']
  const peers = [
    'express@5',
    '@types/express@5',
    'fastify@5',
    'koa@3',
    '@types/koa@3',
    'hono@4',
    'pg@8',
    '@types/pg@8',
    ...['common', 'core', 'platform-express', 'platform-fastify'].map(
      (name) => `@nestjs/${name}@12`,
    ),
    'reflect-metadata@0.2',
    'rxjs@7',
    ...otel,
  ]
  await run(project, 'npm', ['install', ...quiet, ...peers, ...names.map(tarball)])
}, setupTimeout)

afterAll(() => rmSync(project, { recursive: true, force: true }))

describe.each(names)('%s, packed', (name) => {
  it('holds what is built, a readme and the licence, and no tests', async () => {
    const files = (await run(project, 'tar', ['tzf', tarball(name)])).trim().split('\n')
    const expected = ['LICENSE', 'README.md', 'package.json']
    expect(files.filter((file) => !file.startsWith('package/dist/')).sort()).toEqual(
      expected.map((file) => `package/${file}`),
    )
    const entry = libraries.includes(name) ? 'esm/index.js' : 'main.js'
    expect(files).toContain(`package/dist/${entry}`)
    expect(files.filter((file) => /test\.|\.lua$/.test(file))).toEqual([])
  })

  it('satisfies publint', async () => {
    await run(project, tool('publint'), ['run', '--strict', tarball(name)])
  })
})

describe.each(libraries)('%s, packed', (name) => {
  it('has types that agree with its code', async () => {
    await run(project, tool('attw'), [tarball(name), '--profile', 'node16'])
  })
})

describe('an empty project that installs the packages', () => {
  const answers = { allowed: [true, true, false], statuses: [200, 200, 429] }

  it.each(['use.mjs', 'use.cjs'])('uses them: %s', async (file) => {
    copyFileSync(join(consumer, file), join(project, file))
    expect(JSON.parse(await run(project, process.execPath, [file]))).toEqual(answers)
  })

  it.each([
    'fastify.mjs',
    'fastify.cjs',
    'koa.mjs',
    'koa.cjs',
    'node.mjs',
    'hono.mjs',
    'nest.mjs',
    'nest.cjs',
  ])('uses an adapter: %s', async (file) => {
    copyFileSync(join(consumer, file), join(project, file))
    const { statuses } = JSON.parse(await run(project, process.execPath, [file]))
    expect(statuses).toEqual(answers.statuses)
  })

  it('bundles them for a runtime without Node', async () => {
    copyFileSync(join(consumer, 'worker.mjs'), join(project, 'worker.mjs'))
    const options = ['--bundle', '--platform=browser', '--conditions=worker', '--format=esm']
    await run(project, tool('esbuild'), ['worker.mjs', ...options, '--outfile=bundled.mjs'])
    const { statuses } = JSON.parse(await run(project, process.execPath, ['bundled.mjs']))
    expect(statuses).toEqual(answers.statuses)
    // The limiter for Node's own messages is not in it.
    expect(read(project, 'bundled.mjs')).not.toMatch(/node:|ServerResponse|createHmac/)
  })

  it.each(['otel.mjs', 'otel.cjs'])('measures with OpenTelemetry: %s', async (file) => {
    copyFileSync(join(consumer, file), join(project, file))
    const counts = JSON.parse(await run(project, process.execPath, [file]))
    expect(counts).toEqual({ admitted: 2, refused: 1 })
  })

  it.each(['postgres.mjs', 'postgres.cjs'])('has a store in PostgreSQL: %s', async (file) => {
    copyFileSync(join(consumer, file), join(project, file))
    const { sources } = JSON.parse(await run(project, process.execPath, [file]))
    expect(sources).toEqual(['local'])
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
    [['types', 'fastify', 'node', 'hono', 'nest', 'postgres'], 'false'],
    // @types/koa 3.0 itself does not compile together with content-disposition 2, which express brings.
    [['koa'], 'true'],
  ])('compiles against them, as ESM and as CommonJS: %s', async (sources, skipLibCheck) => {
    const files = sources.flatMap((source) => [`${source}.mts`, `${source}.cts`])
    for (const file of files)
      copyFileSync(join(consumer, file.replace(/[mc]ts$/, 'ts')), join(project, file))
    const options = ['--noEmit', '--strict', '--skipLibCheck', skipLibCheck, '--module', 'nodenext']
    await run(project, tool('tsc'), [...options, '--target', 'es2022', '--types', 'node', ...files])
  })

  it('passes the suites with node:test: the stores and the adapter of the docs', async () => {
    const folder = join(project, 'documented')
    const tests = writeDocumented(workspace, folder)
    await passes(folder, tests)
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022']
    const typed = ['--allowImportingTsExtensions', '--types', 'node']
    await run(folder, tool('tsc'), [...options, ...typed, ...tests])
  }, 240_000)

  it('passes the suite of adapters with node:test: Nest 12 on Express and on Fastify', async () => {
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
  }, 240_000)
})

/** Runs test files of node:test, which must have hundreds of tests that all pass. */
async function passes(folder: string, tests: string[]): Promise<void> {
  const loader = pathToFileURL(require.resolve('tsx')).href
  const args = ['--import', loader, '--test', '--test-reporter', 'tap', ...tests]
  const output = await run(folder, process.execPath, args)
  expect(output).toMatch(/^# fail 0$/m)
  expect(Number(/^# pass (\d+)$/m.exec(output)?.[1])).toBeGreaterThan(500)
}
