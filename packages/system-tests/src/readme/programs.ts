// The blocks of the documents as programs in files.

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll } from '@jest/globals'
import { filesOf, root } from '../files.ts'
import { writeDocumented } from '../packages/documented.ts'
import { type Block, blocksOf, joined, serverOf } from './blocks.ts'

/** Documents whose blocks run by themselves. */
const documents = [
  'README.md',
  'packages/core/README.md',
  'packages/dynamodb/README.md',
  'packages/express/README.md',
  'packages/fastify/README.md',
  'packages/hono/README.md',
  'packages/http/README.md',
  'packages/koa/README.md',
  'packages/nest/README.md',
  'packages/mcp/README.md',
  'packages/meter/README.md',
  'packages/otel/README.md',
  'packages/node/README.md',
  'packages/mysql/README.md',
  'packages/postgres/README.md',
  'packages/sqlite/README.md',
  'packages/transactional/README.md',
  'docs/choosing.md',
  'docs/cli.md',
  'docs/decision.md',
  'docs/events.md',
  'docs/http.md',
  'docs/limiter.md',
  'docs/migrating.md',
  'docs/operations.md',
  'docs/options-http.md',
  'docs/options.md',
  'docs/nest.md',
  'docs/production.md',
  'docs/recipes.md',
  'docs/redis.md',
  'docs/stores.md',
  'docs/websockets.md',
]
/** Whether Node has `node:sqlite`. */
export const hasSqlite = process.getBuiltinModule('node:sqlite') !== undefined

/** Documents whose blocks build on those before them. */
const continued = ['docs/adapters.md', 'docs/stores.md']
/** Documents whose blocks for a server are tested elsewhere: here, in src/recipes. */
const partial = ['docs/recipes.md']
/** Documents that show a whole server, which has to limit. */
const servers = [
  'docs/README.md',
  ...readdirSync(join(root, 'docs/start')).map((name) => `docs/start/${name}`),
]

/** All documents with programs that run. */
export const withPrograms = [...documents, ...servers]

/** A folder for programs, gone when the tests of a file are. */
export function programFolder(): { folder: string; tsconfig: string } {
  // In the package, so that the programs find what it depends on.
  const folder = mkdtempSync(join(__dirname, '../../.blocks-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  // Not all users compile by removing types.
  const tsconfig = join(folder, 'tsconfig.json')
  writeFileSync(
    tsconfig,
    JSON.stringify({
      extends: join(root, 'tsconfig.base.json'),
      compilerOptions: {
        noEmit: true,
        verbatimModuleSyntax: false,
        erasableSyntaxOnly: false,
        paths: {
          'my-framework': ['./my-framework.ts'],
          '@whatwg-node/fetch': [join(__dirname, '../places/types/whatwg-fetch.d.ts')],
          'nitro/h3': [join(__dirname, '../../node_modules/h3-2/dist/_entries/node.d.mts')],
          astro: [join(__dirname, '../places/types/astro.d.ts')],
          '@modelcontextprotocol/sdk/server/auth/router.js': [
            join(__dirname, '../places/types/mcp-auth-router.d.ts'),
          ],
          'cloudflare:workers': [join(__dirname, '../places/types/cloudflare-workers.d.ts')],
          '@adonisjs/core/*': [join(__dirname, '../places/types/adonis.d.ts')],
          '@loopback/*': [join(__dirname, '../places/types/loopback.d.ts')],
        },
      },
      include: ['*.mts', 'documented/*.ts'],
    }),
  )
  return { folder, tsconfig }
}

/** Writes the blocks of a document as programs, named after it and their line. */
export function writePrograms(folder: string, document: string): string[] {
  const text = readFileSync(join(root, document), 'utf8')
  if (servers.includes(document)) {
    const { language, source } = serverOf(text)
    const file = join(folder, `server-${document.replace(/\W/g, '-')}.m${language}`)
    writeFileSync(file, source)
    return [file]
  }
  const blocks = blocksIn(document, text).filter(
    ({ info, source }) =>
      info === 'ts' &&
      (!partial.includes(document) || !/'@sluice\/express'/.test(source)) &&
      // The programs take what Node has.
      (hasSqlite || !/\bsqliteStore\(/.test(source)),
  )
  return blocks.map((block) => writeProgram(folder, document, block))
}

/** How long a compiler may take, which reads all packages. ms */
export const COMPILES_WITHIN = 240_000

/**
 * Writes every block of every document of the repository as a program, and what they import.
 * @param folder comes from `programFolder`
 */
export function writeAllPrograms(folder: string): void {
  cpSync(join(__dirname, 'stubs'), folder, { recursive: true })
  writeDocumented(root, join(folder, 'documented'))
  for (const document of filesOf('*.md')) {
    const text = readFileSync(join(root, document), 'utf8')
    for (const block of blocksIn(document, text)) writeProgram(folder, document, block)
  }
}

function blocksIn(document: string, text: string): Block[] {
  return blocksOf(document, continued.includes(document) ? joined(text) : text)
}

function writeProgram(folder: string, document: string, { line, program }: Block): string {
  const file = join(folder, `${document.replace(/\W/g, '-')}-${line}.mts`)
  writeFileSync(file, program)
  return file
}
