// The recipes of frameworks that only this test installs, each with the client of its framework.

import { execFile, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, expect, test } from '@jest/globals'
import { type Program, untilListening } from '@sluice/test-harness/processes'
import { until } from '@sluice/test-harness/redis'
import { root } from '../files.ts'

const PAGE = join(root, 'docs/places/other-frameworks.md')
const run = promisify(execFile)

interface Place {
  /** What npm installs besides, into a folder of the test. */
  readonly packages: readonly string[]
  /** A path that the application answers. */
  readonly hello: string
  /** The application by its files, made from the section's text and its code. */
  files(section: string, code: string): Record<string, string>
  /** `call(url)`, with the framework's own client if it has one: the status and `Retry-After`. */
  readonly client: string
}

const PLACES: Record<string, Place> = {
  AdonisJS: {
    packages: ['@adonisjs/core@6', '@japa/api-client@3'],
    hello: '/hello',
    files: (section, code) => ({
      'app/middleware/rate_limit_middleware.ts': code,
      'start/kernel.ts': `import server from '@adonisjs/core/services/server'
        ${/`(server\.use\(.*?\))`/.exec(section)?.[1]}`,
      'start/routes.ts': `import router from '@adonisjs/core/services/router'
        router.get('/hello', () => 'hello')`,
      'config/app.ts': `import { defineConfig } from '@adonisjs/core/http'
        export const appKey = 'only for these tests, and long enough'
        export const http = defineConfig({})`,
      'config/logger.ts': `import { defineConfig } from '@adonisjs/core/logger'
        export default defineConfig({ default: 'app', loggers: { app: { level: 'warn' } } })`,
      'config/hash.ts': `import { defineConfig, drivers } from '@adonisjs/core/hash'
        export default defineConfig({ default: 'scrypt', list: { scrypt: drivers.scrypt({}) } })`,
      'adonisrc.ts': `import { defineConfig } from '@adonisjs/core/app'
        export default defineConfig({
          providers: [
            () => import('@adonisjs/core/providers/app_provider'),
            () => import('@adonisjs/core/providers/hash_provider'),
          ],
          preloads: [() => import('./start/kernel.ts'), () => import('./start/routes.ts')],
        })`,
      'program.ts': `import { Ignitor } from '@adonisjs/core'
        const folder = new URL('./', import.meta.url)
        const importer = (path) => import(path.startsWith('.') ? new URL(path, folder).href : path)
        await new Ignitor(folder, { importer }).httpServer().start()`,
    }),
    client: `import { ApiClient } from '@japa/api-client'
      const call = async (url) => {
        const response = await new ApiClient().get(url)
        return [response.status(), response.header('retry-after')]
      }`,
  },
  Moleculer: {
    packages: [],
    hello: '/hello/say',
    files: (_, code) => ({
      'program.ts': `${code}
        broker.createService({ name: 'hello', actions: { say: () => 'hello' } })
        broker.createService({
          name: 'many',
          actions: {
            async calls(ctx) {
              for (let i = 0; i < 200; i += 1) await ctx.call('hello.say')
              return 'done'
            },
          },
        })
        await broker.waitForServices(['hello', 'many'])`,
    }),
    client: `const call = async (url) => {
        const response = await fetch(url)
        return [response.status, response.headers.get('retry-after')]
      }`,
  },
  'LoopBack 4': {
    packages: ['@loopback/core@7', '@loopback/rest@15', '@loopback/testlab@8'],
    hello: '/hello',
    files: (_, code) => ({
      'program.ts': `${code}
        app.route('get', '/hello', { responses: {} }, () => 'hello')`,
    }),
    client: `import { supertest } from '@loopback/testlab'
      const call = async (url) => {
        const { status, headers } = await supertest(url).get('')
        return [status, headers['retry-after']]
      }`,
  },
}

const PRELOADS = ['preload.mjs', 'held-requests.mjs'].map(
  (name) => pathToFileURL(join(__dirname, name)).href,
)
const TSC = join(root, 'node_modules/typescript/bin/tsc')
const LIMIT = 100
/** On a busy machine. ms */
const STARTS_WITHIN = 120_000
/** npm may have to fetch the framework first. ms */
const INSTALLS_WITHIN = 900_000

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** Starts the application of a section, in a folder that has the framework and finds our packages. */
async function start(name: string): Promise<{ folder: string; program: Program; pid: number }> {
  const { packages, files } = PLACES[name] as Place
  const [section = ''] = readFileSync(PAGE, 'utf8')
    .split(/^(?=## )/m)
    .filter((each) => each.startsWith(`## ${name}\n`))
  const code = /^```ts\n(.*?)^```$/ms.exec(section)?.[1] as string
  const folder = mkdtempSync(join(__dirname, '../../.blocks-'))
  ends.push(() => rmSync(folder, { recursive: true }))
  const all = {
    'package.json': '{ "type": "module", "imports": { "#middleware/*": "./app/middleware/*.ts" } }',
    'recipe.ts': code,
    'tsconfig.json': JSON.stringify({ extends: join(root, 'tsconfig.base.json') }),
    'recipe.json': JSON.stringify({
      extends: './tsconfig.json',
      // The framework's types of Express, as where our packages are installed beside it.
      compilerOptions: {
        noEmit: true,
        paths: { express: ['./node_modules/@types/express/index.d.ts'] },
      },
      files: ['recipe.ts'],
    }),
    'client.mjs': `${(PLACES[name] as Place).client}
      const [url, count] = process.argv.slice(2)
      const calls = Array.from({ length: Number(count) }, () => call(url))
      console.log(JSON.stringify(await Promise.all(calls)))`,
    ...files(section, code),
  }
  for (const [file, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  const options = ['--no-audit', '--no-fund', '--prefer-offline']
  if (packages.length > 0) await run('npm', ['install', ...options, ...packages], { cwd: folder })
  const compiled = await run(process.execPath, [TSC, '-p', 'recipe.json'], { cwd: folder }).catch(
    (error) => error,
  )
  expect(compiled.stdout).toBe('')
  const flags = [...PRELOADS, 'tsx'].flatMap((each) => ['--import', each])
  const child = spawn(process.execPath, ['--expose-gc', ...flags, 'program.ts'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const program = await untilListening(child, STARTS_WITHIN)
  ends.push(() => program.stop())
  return { folder, program, pid: child.pid as number }
}

/** The status and `Retry-After`, for a client at an address of loopback. */
function ask(url: string, localAddress: string, agent?: Agent) {
  return new Promise<[number | undefined, string | undefined]>((resolve, reject) => {
    get(url, { localAddress, ...(agent && { agent }) }, (response) => {
      const answer = [response.statusCode, response.headers['retry-after']] as const
      response.resume().once('end', () => resolve([...answer]))
    }).once('error', reject)
  })
}

test.each(Object.keys(PLACES))(
  '%s',
  async (name) => {
    const { folder, program, pid } = await start(name)
    const hello = program.url + (PLACES[name] as Place).hello
    // Each time for a client of its own, which no limit refuses.
    let attempts = 0
    const answersOne = async () => {
      attempts += 1
      return (await ask(hello, `127.1.${attempts >> 8}.${attempts & 255}`))[0] === 200
    }
    await until(answersOne, { what: 'it answers', withinMs: STARTS_WITHIN })

    const { stdout } = await run(process.execPath, ['client.mjs', hello, `${LIMIT + 20}`], {
      cwd: folder,
    })
    const answers = JSON.parse(stdout) as [number, string | null | undefined][]
    const refused = answers.filter(([status]) => status === 429)
    expect(answers.filter(([status]) => status === 200)).toHaveLength(LIMIT)
    expect(refused).toHaveLength(20)
    for (const [, wait] of refused) expect(Number(wait)).toBeGreaterThan(0)

    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let i = 0; i < 50; i += 1)
      expect(await ask(hello, '127.0.0.1', agent)).toEqual([429, expect.stringMatching(/^[1-9]/)])
    agent.destroy()
    await EXTRA[name]?.(program.url)
    expect((await ask(hello, '127.0.0.2'))[0]).toBe(200)

    const noneHeld = () => {
      process.kill(pid, 'SIGUSR2')
      return program.output().match(/held: 0 of/)
    }
    await until(noneHeld, { what: 'no request is held' })
    expect(program.output()).not.toMatch(/warn|error/i)
  },
  INSTALLS_WITHIN,
)

/** What a section promises besides. */
const EXTRA: Record<string, (url: string) => Promise<void>> = {
  async Moleculer(url) {
    expect((await ask(`${url}/many/calls`, '127.0.0.3'))[0]).toBe(200)
    const rest = Array.from({ length: LIMIT }, () => ask(`${url}/hello/say`, '127.0.0.3'))
    const statuses = (await Promise.all(rest)).map(([status]) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(LIMIT - 1)
  },
  async 'LoopBack 4'(url) {
    for (let i = 0; i < 5; i += 1) expect((await ask(`${url}/reports`, '127.0.0.3'))[0]).toBe(200)
    expect(await ask(`${url}/reports`, '127.0.0.3')).toEqual([429, expect.stringMatching(/^[1-9]/)])
    expect((await ask(`${url}/hello`, '127.0.0.3'))[0]).toBe(200)
  },
}
