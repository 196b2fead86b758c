// Recipes of the pages in their frameworks, installed from npm, built and started as their users do.

import { rmSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import type { Program } from '@sluice/test-harness/processes'
import { type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { PackedProject, packSluice, run } from './packed-project.ts'
import { patientProgramOf, sectionOf } from './page.ts'

/** The page of the recipes that have no page of their own. */
const PAGE = 'other-frameworks'

let tarballs: string
let redis: RedisServer
const places: Program[] = []

beforeAll(async () => {
  ;[tarballs, redis] = await Promise.all([packSluice(), startRedis()])
}, 900_000)
afterEach(async () => {
  for (const each of places.splice(0)) await each.stop()
})
afterAll(async () => {
  await redis.stop()
  rmSync(tarballs, { recursive: true, force: true })
})

async function start(project: PackedProject, file: string, node?: string): Promise<Program> {
  const place = await project.start(file, { node, env: { REDIS_URL: redis.url } })
  places.push(place)
  return place
}

/** What `count` requests at once get. */
async function send(place: Program, count: number, path = '/', forwarded?: string) {
  const headers: Record<string, string> = forwarded ? { 'X-Forwarded-For': forwarded } : {}
  const requests = Array.from({ length: count }, async () => {
    const response = await fetch(place.url + path, { headers })
    return { status: response.status, headers: response.headers, text: await response.text() }
  })
  const replies = await Promise.all(requests)
  return {
    admitted: replies.filter(({ status, text }) => status === 200 && text.includes('served')),
    refused: replies.filter(({ status }) => status === 429),
  }
}

/** The limit of 60 holds for a client that comes with that address. */
async function expectSixty(place: Program, forwarded?: string): Promise<void> {
  const { admitted, refused } = await send(place, 75, '/', forwarded)
  const { length } = admitted
  expect({ length, refused: refused.length, output: place.output() }).toMatchObject({
    length: 60,
    refused: 15,
  })
  expect(Number(refused[0]?.headers.get('Retry-After'))).toBeGreaterThan(0)
}

const MCP_SERVER = `
import express from 'express'
import { Redis } from 'ioredis'
import { DemoInMemoryAuthProvider } from '@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js'
const app = express()
const redis = new Redis(process.env.REDIS_URL)
const provider = new DemoInMemoryAuthProvider()
const issuerUrl = new URL('http://localhost')
`
const MCP_LISTENS = `
app.listen(Number(process.env.PORT), process.env.HOST, () => {
  console.log(\`http://\${process.env.HOST}:\${process.env.PORT}\`)
})
`
/** Prints the outcome of each registration, and of each refresh of a token, by the client of the SDK. */
const MCP_CLIENT = `
import { refreshAuthorization, registerClient } from '@modelcontextprotocol/sdk/client/auth.js'
const [, , url] = process.argv
const clientMetadata = { redirect_uris: ['http://localhost/back'], token_endpoint_auth_method: 'none' }
const outcomes = async (count, call) =>
  (await Promise.allSettled(Array.from({ length: count }, call))).map(
    ({ value, reason }) => reason?.errorCode ?? reason?.message ?? value,
  )
const registered = await outcomes(8, () => registerClient(url, { clientMetadata }))
const clientInformation = registered.find(({ client_id }) => client_id)
const refreshed = await outcomes(60, () =>
  refreshAuthorization(url, { clientInformation, refreshToken: 'none' }),
)
console.log(JSON.stringify({ registered, refreshed }))
`

test('the OAuth endpoints of SDK 1 of MCP', async () => {
  const project = new PackedProject(tarballs, 'mcp')
  await project.install(
    'express',
    '@modelcontextprotocol/sdk@1',
    'express@5',
    'ioredis@6',
    'esbuild@0.27',
  )
  const recipe = sectionOf('mcp', 'OAuth of SDK 1')
    .replace('store: redis,', "store: redis, deadline: '30s',")
    .replace("'15m'", "'1d'")
  project.write('server.ts', MCP_SERVER + recipe + MCP_LISTENS)
  project.write('client.js', MCP_CLIENT)
  await run(project.folder, 'npx', ['esbuild', 'server.ts', '--format=esm', '--outfile=server.js'])
  const place = await start(project, 'server.js')

  const printed = await run(project.folder, process.execPath, ['client.js', place.url])
  const { registered, refreshed } = JSON.parse(printed) as Record<string, unknown[]>
  const isRefused = (outcome: unknown) => outcome === 'too_many_requests'
  expect(registered?.filter(isRefused)).toHaveLength(3)
  expect(registered?.filter((each) => each instanceof Object)).toHaveLength(5)
  expect(refreshed?.filter(isRefused)).toHaveLength(10)
  // The provider of the example has no refresh tokens.
  expect(refreshed?.filter((each) => each === 'server_error')).toHaveLength(50)
  const { headers } = await fetch(`${place.url}/register`, { method: 'POST' })
  expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0)

  // The counts outlive the process.
  const other = await start(project, 'server.js')
  expect((await fetch(`${other.url}/token`, { method: 'POST' })).status).toBe(429)
  expect(place.output() + other.output()).not.toMatch(/Warning|Error: (?!Not implemented)/)
})

test('Nitro 3', async () => {
  const project = new PackedProject(tarballs, 'nitro')
  await project.install('node', 'nitro@3', 'ioredis@6')
  const recipe = patientProgramOf('nitro')
  project.write('nitro.config.mjs', "export default { scanDirs: ['./server'] }\n")
  project.write('server/middleware/rate-limit.ts', recipe)
  project.write(
    'server/routes/index.ts',
    "import { defineHandler } from 'nitro/h3'\nexport default defineHandler(() => 'served')\n",
  )
  await run(project.folder, 'npx', ['nitro', 'build'])
  const place = await start(project, '.output/server/index.mjs')
  await expectSixty(place, '192.0.2.1')
  await expectSixty(place, '192.0.2.1, 192.0.2.2')
  expect((await send(place, 1, '/', '192.0.2.7, 192.0.2.1')).refused).toHaveLength(1)
})

test('Astro', async () => {
  const npm = ['exec', '--yes', '--prefer-offline', '--package=node@26', '--']
  const node = (await run(tarballs, 'npm', [...npm, 'node', '-p', 'process.execPath'])).trim()
  const project = new PackedProject(tarballs, 'astro')
  await project.install('hono', 'astro@7', '@astrojs/node@11', 'hono@4')
  const recipe = sectionOf(PAGE, 'Astro').replace("'1m'", "'1d'")
  project.write('src/middleware.ts', recipe)
  project.write('src/pages/index.astro', '<p>served</p>\n')
  project.write(
    'src/pages/static.astro',
    '---\nexport const prerender = true\n---\n<p>served</p>\n',
  )
  const build = async (security: string) => {
    project.write(
      'astro.config.mjs',
      `import node from '@astrojs/node'
export default { output: 'server', adapter: node({ mode: 'standalone' }), security: ${security} }
`,
    )
    await run(project.folder, node, ['node_modules/astro/bin/astro.mjs', 'build'])
    return start(project, 'dist/server/entry.mjs', node)
  }

  const place = await build('{}')
  await expectSixty(place)
  await expectSixty(place, '192.0.2.1')
  // Of what a client sends, a proxy's own entry alone counts.
  expect((await send(place, 1, '/', '192.0.2.7, 192.0.2.1')).refused).toHaveLength(1)
  expect((await send(place, 70, '/static/')).admitted).toHaveLength(70)

  // With allowed domains, `clientAddress` is what the client sends.
  const address = /^ *address: .*\n/m
  expect(recipe).toMatch(address)
  project.write(
    'src/middleware.ts',
    recipe.replace("trustProxy: 'loopback'", 'trustProxy: 1').replace(address, ''),
  )
  const behind = await build("{ allowedDomains: [{ hostname: '127.0.0.1' }] }")
  await expectSixty(behind, '192.0.2.1')
  expect((await send(behind, 1, '/', '192.0.2.7, 192.0.2.1')).refused).toHaveLength(1)
}, 900_000)
