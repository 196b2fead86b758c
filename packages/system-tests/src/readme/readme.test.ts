import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type PostgresServer, startPostgres, whyNoPostgres } from '@sluice/test-harness/postgres'
import { type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { blocksOf, joined, serverOf } from './blocks.ts'

const run = promisify(execFile)
const root = join(__dirname, '../../../..')
const documents = [
  'README.md',
  'packages/cli/README.md',
  'packages/core/README.md',
  'packages/express/README.md',
  'packages/fastify/README.md',
  'packages/hono/README.md',
  'packages/koa/README.md',
  'packages/nest/README.md',
  'packages/otel/README.md',
  'packages/node/README.md',
  'packages/postgres/README.md',
  'docs/choosing.md',
  'docs/decision.md',
  'docs/events.md',
  'docs/migrating.md',
  'docs/operations.md',
  'docs/production.md',
  'docs/recipes.md',
  'docs/stores.md',
]
/** Documents whose blocks build on those before them. */
const continued = ['docs/stores.md']
/** Documents whose blocks without an import are tested elsewhere: here, in src/recipes. */
const partial = ['docs/recipes.md']
/** Documents that show a whole server, which has to limit. */
const servers = [
  'docs/README.md',
  ...readdirSync(join(root, 'docs/start')).map((name) => `docs/start/${name}`),
]
const noPostgres = whyNoPostgres()
/** Where there is no PostgreSQL, the blocks that need it are only compiled. */
const runnable = [...documents, ...servers].filter(
  (each) => !noPostgres || !each.includes('postgres'),
)

let redis: RedisServer
let postgres: PostgresServer | undefined
let folder: string
let tsconfig: string
/** What went wrong, by program. */
let failures: Record<string, string>

beforeAll(async () => {
  redis = await startRedis()
  if (noPostgres === undefined) postgres = await startPostgres()
  // In the package, so that the blocks find what it depends on.
  folder = mkdtempSync(join(__dirname, '.blocks-'))
  // Not all users compile by removing types.
  tsconfig = join(folder, 'tsconfig.json')
  writeFileSync(
    tsconfig,
    JSON.stringify({
      extends: join(root, 'tsconfig.base.json'),
      compilerOptions: { noEmit: true, verbatimModuleSyntax: false, erasableSyntaxOnly: false },
      include: ['*.mts'],
    }),
  )
  failures = await runAll(runnable.flatMap(programsOf))
})

afterAll(async () => {
  await redis.stop()
  await postgres?.stop()
  rmSync(folder, { recursive: true })
})

/** Runs programs in one process, since starting one costs more than they do. */
async function runAll(programs: readonly string[]): Promise<Record<string, string>> {
  const script = join(__dirname, 'run-blocks.ts')
  const { stdout } = await run(process.execPath, ['--import', 'tsx', script, ...programs], {
    env: {
      ...process.env,
      REDIS_URL: redis.url,
      DATABASE_URL: postgres?.url,
      TSX_TSCONFIG_PATH: tsconfig,
    },
  })
  const [report] = stdout.match(/\{.*\}$/) ?? ['no report']
  return JSON.parse(report)
}

/** Writes the blocks of a document as programs, named after it and their line. */
function programsOf(document: string): string[] {
  const text = readFileSync(join(root, document), 'utf8')
  if (servers.includes(document)) {
    const { language, source } = serverOf(text)
    const file = join(folder, `server-${document.replace(/\W/g, '-')}.m${language}`)
    writeFileSync(file, source)
    return [file]
  }
  const markdown = continued.includes(document) ? joined(text) : text
  const blocks = blocksOf(markdown, document.split('/')[1]).filter(
    ({ source }) => !partial.includes(document) || /^import /m.test(source),
  )
  return blocks.map(({ line, program }) => {
    const file = join(folder, `${document.replace(/\W/g, '-')}-${line}.mts`)
    writeFileSync(file, program)
    return file
  })
}

test.each(runnable)('the blocks of %s run, and give what they say', (document) => {
  const programs = programsOf(document)
  expect(programs.length).toBeGreaterThan(0)
  expect(programs.flatMap((program) => failures[program] ?? [])).toEqual([])
})

test('the blocks pass the compiler', async () => {
  for (const document of [...documents, ...servers]) programsOf(document)
  const tsc = join(root, 'node_modules/.bin/tsc')
  const { stdout } = await run(tsc, ['-p', folder]).catch((error) => error)
  expect(stdout).toBe('')
})
