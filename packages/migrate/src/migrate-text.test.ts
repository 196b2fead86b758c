// What comes out for real configurations: the text, its types, and how it limits.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'
import { optionHere } from '@sluice/core/internal'
import { assert, nat, property, tuple } from 'fast-check'
import request from 'supertest'
import { migrateFiles, migrateText, PEERS } from './migrate-text.ts'
import { parseFile, parseProgram, SourceSyntaxError } from './parse.ts'
import { fixtures, names, pathOf, textOf } from './testing/fixtures.ts'

const root = join(__dirname, '../../..')

describe('a file', () => {
  it.each(names)('of %s becomes what is expected, and stays that', (name) => {
    const path = pathOf(name, 'before')
    const { text, peers } = migrateText(textOf(name, 'before'), path)
    expect(text).toBe(textOf(name, 'after'))
    expect(peers.length).toBeGreaterThan(0)
    expect(migrateText(text, path).text).toBe(text)
  })

  it('compiles with strict types when it is migrated', () => {
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    expect(run([tsc, '-p', fixtures])).toBe('')
  })

  it.each(names)('of %s keeps the ends of its lines', (name) => {
    const crlf = (text: string) => text.replaceAll('\n', '\r\n')
    const { text } = migrateText(crlf(textOf(name, 'before')), pathOf(name, 'before'))
    expect(text).toBe(crlf(textOf(name, 'after')))
  })

  it('is refused with its position, or comes out as a program, whatever is cut out of it', () => {
    const all = names.map((name) => [pathOf(name, 'before'), textOf(name, 'before')] as const)
    const cuts = tuple(nat(all.length - 1), nat(10_000), nat(40))
    assert(
      property(cuts, ([i, at, length]) => {
        const [path, whole] = all[i] as (typeof all)[number]
        const start = at % whole.length
        const text = whole.slice(0, start) + whole.slice(start + length)
        if (!isProgram(text, path))
          return expect(() => migrateText(text, path)).toThrow(SourceSyntaxError)
        expect(isProgram(migrateText(text, path).text, path)).toBe(true)
      }),
      { numRuns: 60, seed: 17 },
    )
  })
})

function isProgram(text: string, path: string): boolean {
  try {
    parseProgram(text, path)
    return true
  } catch {
    return false
  }
}

function run(args: readonly string[]): string {
  try {
    return execFileSync(process.execPath, args, { encoding: 'utf8' })
  } catch (error) {
    return String((error as { stdout?: string }).stdout)
  }
}

describe('a migrated server', () => {
  const closing: (() => unknown)[] = []
  afterAll(async () => {
    for (const close of closing) await close()
  })

  /** The statuses of some requests to a path, over a socket. */
  async function statuses(
    app: RequestListener,
    path: string,
    count: number,
    method: 'get' | 'post' = 'get',
  ) {
    const server = createServer(app)
    closing.push(() => server.close())
    const agent = request(server)
    const all: number[] = []
    for (let i = 0; i < count; i += 1) all.push((await agent[method](path)).status)
    return all
  }

  it('of express-rate-limit limits as it did', async () => {
    const { app } = require(pathOf('express-docs', 'after'))
    expect(await statuses(app, '/', 4)).toEqual([200, 200, 200, 429])
  })

  it('of express-rate-limit answers as its message does, and counts what failed', async () => {
    const app = require(pathOf('express-messages', 'after'))
    const told = await request(app).get('/told')
    expect(told.text).toBe('ok')
    const refused = await request(app).get('/told')
    expect([refused.status, refused.body]).toEqual([429, { error: 'slow down' }])
    expect(await statuses(app, '/login', 4, 'post')).toEqual([401, 401, 429, 429])
    expect(await statuses(app, '/plain', 2)).toEqual([200, 403])
  })

  it('of @fastify/rate-limit limits only the routes that it did', async () => {
    const fastify = await require(pathOf('fastify-docs', 'after')).build()
    await fastify.ready()
    closing.push(() => fastify.close())
    const app = fastify.routing as RequestListener
    expect(await statuses(app, '/', 4)).toEqual([200, 200, 200, 429])
    expect(await statuses(app, '/nowhere', 3)).toEqual([404, 404, 429])
    for (const path of ['/free', '/off'])
      expect(await statuses(app, path, 4)).toEqual(Array(4).fill(200))
  })

  it('of koa-ratelimit limits all but what was on its list, with its own names of fields', async () => {
    const app = require(pathOf('koa-docs', 'after')).callback()
    const { headers } = await request(app).get('/').set('X-Forwarded-For', '192.0.2.7')
    const reset = Number(headers['rate-limit-reset']) - Date.now() / 1000
    expect(headers).toMatchObject({ 'rate-limit-total': '3', 'rate-limit-remaining': '2' })
    expect(reset).toBeGreaterThan(3540)
    expect(reset).toBeLessThan(3601)
    expect(await statuses(app, '/', 3)).toEqual([200, 200, 429])
    expect(await statuses(app, '/health', 4)).toEqual([200, 200, 200, 200])
  })

  it('of hono-rate-limiter limits as it did', async () => {
    const { app } = require(pathOf('hono-docs', 'after'))
    const ask = async (path: string, method: string, count: number) => {
      const all: Response[] = []
      for (let i = 0; i < count; i += 1) all.push(await app.request(path, { method }))
      return all
    }
    const all = await ask('/', 'GET', 4)
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 429])
    expect(await all[3]?.text()).toBe('Slow down.')
    expect(all[0]?.headers.get('ratelimit')).toMatch(/^limit=3, remaining=2, reset=\d+$/)
    const health = await ask('/health', 'GET', 4)
    expect(health.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  })

  it('of rate-limiter-flexible limits by what requests cost', async () => {
    const app = require(pathOf('flexible-docs', 'after'))
    expect(await statuses(app, '/', 4)).toEqual([200, 200, 200, 429])
  })

  it('of @nestjs/throttler limits its handlers', async () => {
    const { NestFactory } = await import('@nestjs/core')
    const { AppModule } = require(pathOf('nest-docs', 'after'))
    const nest = await NestFactory.create(AppModule, { logger: false })
    closing.push(() => nest.close())
    await nest.init()
    const app = nest.getHttpAdapter().getInstance()
    expect(await statuses(app, '/', 4)).toEqual([200, 200, 200, 429])
    expect(await statuses(app, '/login', 3, 'post')).toEqual([201, 201, 429])
    expect(await statuses(app, '/health', 4)).toEqual([200, 200, 200, 200])
  })

  it('of @nestjs/throttler before version 5 counts seconds', () => {
    const { text } = migrateText(textOf('nest-seconds', 'before'), 'nest.ts')
    expect(text).toContain("@RateLimit({ limit: 5, window: '1m'")
    expect(text).toContain("forRoot({ window: '1m', limit: 3")
  })
})

describe('what the tables of docs/migrating.md say', () => {
  const page = readFileSync(join(root, 'docs/migrating.md'), 'utf8')
  const rows = PEERS.flatMap(({ name }) => {
    const section = page.split(`\n## ${name}\n`)[1]?.split('\n## ')[0] ?? ''
    return [...section.matchAll(/^\| ((?:`\w+`(?:, )?)+) \| (.+) \|$/gm)].flatMap(
      ([, there = '', here = '']) =>
        [...there.matchAll(/`(\w+)`/g)].map(
          ([, option]) => [name, option as string, here] as const,
        ),
    )
  })

  it('counts the files of corpus.json', () => {
    type Round = { files: readonly { outcome: string }[] }
    const { files, ...others } = JSON.parse(
      readFileSync(join(__dirname, '../corpus.json'), 'utf8'),
    ) as Round & Record<'second' | 'third' | 'fourth', Round>
    const all = [...files, ...[others.second, others.third, others.fourth].flatMap((r) => r.files)]
    const count = (...outcomes: readonly string[]) =>
      all.filter(({ outcome }) => outcomes.includes(outcome)).length
    const counts = [all.length, count('right'), count('commented'), count('left', 'partly'), 0]
    expect(page).toContain(`\n| ${counts.join(' | ')} |\n`)
  })

  it('is about every peer', () => {
    const replaced = PEERS.filter(({ sluice }) => sluice !== undefined)
    expect(new Set(rows.map(([name]) => name)).size).toBe(replaced.length)
    expect(rows.length).toBeGreaterThan(50)
  })

  it.each(rows.filter(([, option]) => optionHere(option) !== undefined))(
    '%s: %s has the same name there as in the code',
    (_, option, here) => {
      const { option: name } = optionHere(option) as { option: string }
      expect(here).toMatch(new RegExp(`\\b(${name}|${EXCEPTIONS[option] ?? name})\\b`))
    },
  )
})

/** Where a peer's option has several meanings, or its function another name. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  whitelist: 'skip',
  identifier: 'name',
}

describe('code', () => {
  const migrated = (text: string, name = 'file.ts') => migrateText(text, name).text
  const express = (options: string) =>
    migrated(`import r from 'express-rate-limit'\nr(${options})\n`)

  it.each([
    ['windowMs: 15 * 60 * 1000', "window: '15m'"],
    ['windowMs: 90e3', "window: '90s'"],
    ['windowMs: 1500', "window: '1500ms'"],
    ['windowMs: 7 * 24 * 60 * 60 * 1000', "window: '7d'"],
    ['windowMs: config.window', 'window: config.window'],
    ['windowMs: Number(process.env.W) * 1000', 'window: Number(process.env.W) * 1000'],
    ["'windowMs': 60_000", "window: '1m'"],
    ['ipv6Subnet: false', 'ipv6Prefix: 128'],
    ['message: text', 'respond: (_decision, _request, response) => response.send(text)'],
    ['statusCode: 403', 'statusCode: 403'],
    [
      'statusCode: 418',
      "respond: (_decision, _request, response) => response.status(418).send('Too many requests, please try again later.')",
    ],
    ['max: process.env.MAX', 'limit: Number(process.env.MAX ?? 5)'],
    ['windowMs: process.env.W', 'window: Number(process.env.W ?? 60000)'],
    ['max: process.env.MAX || 9', 'limit: Number(process.env.MAX || 9)'],
    ["windowMs: process.env.WINDOW || '60000'", "window: Number(process.env.WINDOW || '60000')"],
    ['standardHeaders: true', "headers: ['draft-6', 'legacy']"],
    ['standardHeaders: true, legacyHeaders: false', "headers: 'draft-6'"],
    ['max: 1001', "limit: 1001, headers: 'legacy', window: '1m' })"],
    ['skipSuccessfulRequests: false, max: 3', '{ limit: 3'],
    ['keyGenerator: function (req) { return req.ip }, max: 3', '{ limit: 3'],
  ])('express-rate-limit: %s becomes %s', (there, here) => {
    expect(express(`{ ${there} }`)).toContain(here)
  })

  it.each([
    ["options.timeWindow ?? '1 minute'", "window: options.timeWindow ?? '1 minute'"],
    ['`5 minutes`', 'window: `5 minutes`'],
    ['ONE_MINUTE', 'window: ONE_MINUTE'],
    ['process.env.TIME_WINDOW', "window: (process.env.TIME_WINDOW ?? '1m') as never"],
    ["process.env.W || '1 minute'", "window: (process.env.W || '1 minute') as never"],
    ['config.window', 'window: TypeScript does not take a string'],
    ['process.env.TIME_WINDOW', 'text has a unit here'],
    ["'1 minute'", "window: '1 minute'"],
  ])('@fastify/rate-limit: timeWindow: %s becomes %s', (there, here) => {
    const text = migrated(`import rateLimit from '@fastify/rate-limit'
const ONE_MINUTE = '1 minute'
app.register(rateLimit, { max: 5, timeWindow: ${there} })
`)
    expect(text).toContain(here)
  })

  it('a constant that nothing uses any more goes, unless something is called to make it', () => {
    const migrated = (value: string) =>
      migrateText(
        `import rateLimit from 'express-rate-limit'
const validate = ${value}
app.use(rateLimit({ windowMs: 60_000, limit: 5, validate }))`,
        'app.ts',
      ).text
    expect(migrated('1 + 2')).not.toContain('validate')
    expect(migrated('1 + count()')).toContain('const validate = 1 + count()')
    expect(migrated('count() + 1')).toContain('const validate = count() + 1')
  })

  it('two files of one name count under prefixes of their own', () => {
    const text = `import { rateLimit } from 'express-rate-limit'
import { RedisStore } from 'rate-limit-redis'
import { redis } from './redis'
app.use(rateLimit({ limit: 5, store: new RedisStore({ sendCommand: (...args) => redis.call(...args) }) }))
`
    const files = ['src/users/limit.js', 'src/orders/limit.js', 'src/login.js']
    const prefixes = migrateFiles(files.map((name) => parseFile(text, name))).map(
      (each) => /prefix: '(.*?)'/.exec(each?.text ?? '')?.[1],
    )
    expect(prefixes).toEqual(['users.limit', 'orders.limit', 'login'])
  })

  it('two limits on one Redis count under prefixes of their own', () => {
    const text = `import { rateLimit } from 'express-rate-limit'
import { RedisStore } from 'rate-limit-redis'
import { redis } from './redis'
const login = rateLimit({ windowMs: 60_000, limit: 5, store: new RedisStore({ sendCommand: (...args) => redis.call(...args) }) })
app.use(rateLimit({ windowMs: 60_000, limit: 100, store: new RedisStore({ sendCommand: (...args) => redis.call(...args) }) }))
app.use(rateLimit({ windowMs: 60_000, limit: 9, store: new RedisStore({ sendCommand: (...args) => redis.call(...args) }) }))
`
    const prefixes = migrateText(text, 'src/auth.test.ts').text.matchAll(/prefix: ('.*?')/g)
    expect([...prefixes].map(([, prefix]) => prefix)).toEqual([
      "'auth.login'",
      "'auth'",
      "'auth.2'",
    ])
  })

  const onRedis = (prefix: string) =>
    `store: new RedisStore({ ${prefix}sendCommand: (...args) => redis.call(...args) })`
  const redisFile = (code: string) => `import { rateLimit } from 'express-rate-limit'
import { RedisStore } from 'rate-limit-redis'
import { redis } from './redis'
${code}
`

  it.each([
    [
      'const make = (max) => rateLimit({ windowMs: 60_000, max, STORE })',
      '',
      'It is made in a function, with numbers that the function gets',
    ],
    [
      'function make(options) { const { limit } = options\n return rateLimit({ windowMs: 60_000, limit, STORE }) }',
      "prefix: 'rl:', ",
      'It is made in a function, with numbers that the function gets',
    ],
    [
      'const a = rateLimit({ max: 5, STORE })\nconst b = rateLimit({ max: 6, STORE })',
      "prefix: 'rl:', ",
      "Another limiter of this file has the prefix 'rl:' too",
    ],
  ])('limiters that would conflict on one store stay: %s', (code, prefix, reason) => {
    const { left } = migrateText(redisFile(code.replaceAll('STORE', onRedis(prefix))), 'a.js')
    expect(left).toEqual([{ line: expect.any(Number), reason: expect.stringContaining(reason) }])
  })

  it.each([
    ['const make = (max, name) => rateLimit({ max, STORE })', 'prefix: name, ', 'prefix: name'],
    ['const make = () => rateLimit({ max: 5, STORE })', '', "prefix: 'a'"],
    ['const make = (user) => rateLimit({ max: (req) => req.limit, STORE })', '', "prefix: 'a'"],
    ['rateLimit({ passOnStoreError: false, STORE })', '', "onStoreError: 'deny'"],
  ])('others are rewritten: %s', (code, prefix, expected) => {
    const { text, left } = migrateText(redisFile(code.replaceAll('STORE', onRedis(prefix))), 'a.js')
    expect({ left, text }).toEqual({ left: [], text: expect.stringContaining(expected) })
  })

  it.each([
    ['redis.createClient({ legacyMode: true })', {}],
    ["redis.createClient({ host: 'localhost' })", {}],
    ['redis.createClient(6379)', {}],
    ['new redis.RedisClient()', {}],
    ['redis.createClient()', { redis: '^3.1.2' }],
    ['connect()', { redis: '~2.8.0' }],
  ])('a client of Redis that Sluice does not take is said: %s with %s', (client, dependencies) => {
    const text = `const redis = require('redis')
const { RateLimiterRedis } = require('rate-limiter-flexible')
const client = ${client}
const limiter = new RateLimiterRedis({ storeClient: client, keyPrefix: 'a', points: 5 })
`
    const [migration] = migrateFiles([parseFile(text, 'a.js', dependencies)])
    expect(migration?.left[0]?.reason).toContain('The client of Redis is of node-redis before 4')
  })

  it.each([
    ['redis.createClient({ url })', { redis: '^5.0.0' }],
    ['new Redis()', { redis: '^3.0.0', ioredis: '^5.0.0' }],
    ['connect()', { redis: 'latest' }],
  ])('other clients of Redis are taken: %s with %s', (client, dependencies) => {
    const text = `const redis = require('redis')
const Redis = require('ioredis')
const { RateLimiterRedis } = require('rate-limiter-flexible')
const client = ${client}
const limiter = new RateLimiterRedis({ storeClient: client, keyPrefix: 'a', points: 5 })
`
    const [migration] = migrateFiles([parseFile(text, 'a.js', dependencies)])
    expect(migration).toMatchObject({ rewritten: 1, left: [] })
  })

  it.each(['return true', 'return { allowed: true }', 'const key = req.ip', 'return next()'])(
    'rate-limiter-flexible: what cannot fail beside consume may stay beside it: %s',
    (statement) => {
      const text = (statement: string) => `import { RateLimiterMemory } from 'rate-limiter-flexible'
const limiter = new RateLimiterMemory({ points: 5, duration: 60 })
async function attempt(req, next) {
  try {
    await limiter.consume(req.ip)
    ${statement}
  } catch {
    return false
  }
}
`
      expect(migrateText(text(statement), 'a.js').left).toEqual([])
      expect(migrateText(text('return work()'), 'a.js').left).toHaveLength(1)
    },
  )

  it('a list that a typed factory returns is rewritten, with its comments above it', () => {
    const text = `import { Module } from '@nestjs/common'
import { ThrottlerModule, ThrottlerModuleOptions } from '@nestjs/throttler'

@Module({
  imports: [
    ThrottlerModule.forRootAsync({
      useFactory: (config: Config): ThrottlerModuleOptions => [
        {
          ttl: config.ttl,
          limit: config.limit,
        },
      ],
    }),
  ],
})
export class AppModule {}
`
    const migration = migrateText(text, 'app.module.ts')
    expect(migration).toMatchObject({ rewritten: 1, left: [] })
    expect(migration.text).toContain('useFactory: (config: Config): RateLimitOptions => ({')
  })

  it('types of limiters that other files make stay', () => {
    const text = `import type { Options } from 'express-rate-limit'
export type Limits = Partial<Options>
export const limits: Options[] = []
`
    const { text: after, left } = migrateText(text, 'types.ts')
    expect(left).toEqual([{ line: 2, reason: expect.stringContaining('Types of limiters') }])
    expect(after.replace(/^\/\/.*\n/gm, '')).toBe(text)
  })

  it('a compiled file says that its source is to be rewritten', () => {
    const text = `"use strict"
Object.defineProperty(exports, "__esModule", { value: true })
const limit_1 = __importDefault(require("express-rate-limit"))
exports.limiter = (0, limit_1.default)({ max: 5 })
`
    expect(migrateText(text, 'a.js').left[0]?.reason).toContain('This file is compiled')
  })

  it('@fastify/rate-limit: a list that is a function of the file exempts', () => {
    const text = `const isLocal = (request) => request.ip === '127.0.0.1'
app.register(require('@fastify/rate-limit'), { max: 5, allowList: isLocal })
`
    expect(migrateText(text, 'a.js').text).toContain('skip: isLocal')
  })

  it('koa-ratelimit: a limiter that a function makes, with a Map from outside, stays', () => {
    const text = (use: string) => `const limit = require('koa-ratelimit')
const db = new Map()
module.exports = ${use}
`
    const made = "limit({ driver: 'memory', db, max: 3, duration: 60000 })"
    for (const use of [
      `() => ${made}`,
      `async (ctx, next) => { await ${made}(ctx, next) }`,
      `(ctx, next) => { const limiter = ${made}\n return limiter(ctx, next) }`,
    ]) {
      const { left } = migrateText(text(use), 'a.js')
      expect(left[0]?.reason).toContain('db: a function makes the limiter')
    }
  })

  it('koa-ratelimit: a limit that is none in one case stays', () => {
    const text = (max: string) => `import limit from 'koa-ratelimit'
app.use(limit({ driver: 'memory', db: new Map(), duration: 60000, max: ${max} }))
`
    for (const max of ["env === 'test' ? Infinity : 5", 'given ?? Infinity']) {
      const { left } = migrateText(text(max), 'a.js')
      expect(left[0]?.reason).toContain('max: limit is an integer from 0. Infinity is none')
    }
    expect(migrateText(text("env === 'test' ? 500 : 5"), 'a.js').left).toEqual([])
  })

  it('koa-ratelimit: a Map that is made with the limiter counts for it alone', () => {
    const text = `import limit from 'koa-ratelimit'
export default (config, { log }) => {
  const db = new Map()
  const limiter = limit({ driver: 'memory', db, max: 3, duration: 60000 })
  return (ctx, next) => (ctx.method === 'POST' ? limiter(ctx, next) : next())
}
`
    expect(migrateText(text, 'a.js')).toMatchObject({ rewritten: 1, left: [] })
  })

  it('@fastify/rate-limit: options of a route that have a type, and are set later, keep the plugin', () => {
    const text = `import rateLimit from '@fastify/rate-limit'
await app.register(rateLimit, { global: false, max: 5, timeWindow: 60000 })
app.addHook('onRoute', (route) => {
  route.config = { ...route.config, rateLimit: { max: 2, timeWindow: 1000 } } as Config
})
`
    const { rewritten, left } = migrateText(text, 'a.ts')
    expect(rewritten).toBe(0)
    expect(left.map(({ reason }) => reason)).toEqual([
      expect.stringContaining('It works only together with line'),
      expect.stringContaining('depends on the order of hooks'),
    ])
  })

  it('@fastify/rate-limit: a thrown object without a status says that it gets 429', () => {
    const text = (result: string) => `import rateLimit from '@fastify/rate-limit'
app.setErrorHandler(render)
app.register(rateLimit, { max: 5, timeWindow: 60000, errorResponseBuilder: () => (${result}) })
`
    const said = 'there it gets 500'
    expect(migrateText(text("{ status: 'error', text: 'no' }"), 'a.js').text).toContain(said)
    expect(migrateText(text('{ statusCode: 429 }'), 'a.js').text).not.toContain(said)
    expect(migrateText(text('new Refusal()'), 'a.js').text).not.toContain(said)
  })

  const withoutComments = (text: string) => text.replace(/^ *\/\/.*\n/gm, '')
  const handling = (test: string) => `import rateLimit from 'express-rate-limit'
app.use(rateLimit({ max: 5, handler: (req, res) => { ${test} res.status(429).end() } }))
`

  it.each([
    'if (req.rateLimit.used === req.rateLimit.limit + 1) tell(req.ip);',
    'const used = req.rateLimit.used; if (used > 5) tell(req.ip);',
    'if (req.rateLimit.current >= 6) tell(req.ip);',
  ])('express-rate-limit: a comparison that would never be true stays: %s', (test) => {
    const text = handling(test)
    const { rewritten, left } = migrateText(text, 'a.js')
    expect({ rewritten, left }).toEqual({
      rewritten: 0,
      left: [{ line: 2, reason: expect.stringContaining('write alertAt: [1] and onThreshold') }],
    })
    const read = handling('log(req.rateLimit.used);')
    expect(migrateText(read, 'a.js').text).toContain('log((decision.limit - decision.remaining))')
  })

  it('express-rate-limit: a comparison in another middleware has a comment', () => {
    const text = `${handling('')}app.use((req, res) => { if (req.rateLimit.used > 5) tell(req.ip) })\n`
    expect(migrateText(text, 'a.js').text).toContain('// sluice: used: refused requests are not')
  })

  it('express-rate-limit: a logger of its own has a comment', () => {
    expect(express('{ max: 5, logger: pino }')).toContain("process.on('warning', (warning) => …)")
  })

  it.each([
    ['express-rate-limit', 'rateLimit', 'rateLimit({ windowMs: HOUR, max: 5 })'],
    [
      'rate-limiter-flexible',
      'RateLimiterMemory',
      'const l = new RateLimiterMemory({ points: 5, duration: HOUR })\nasync function f() { try { await l.consume(k) } catch { return HOUR } }',
    ],
  ])('another export of %s keeps its import', (peer, name, code) => {
    const text = `import { HOUR, ${name} } from '${peer}'\n${code}\n`
    const { text: after, rewritten } = migrateText(text, 'a.js')
    expect(rewritten).toBe(1)
    expect(after).toContain(`import { HOUR } from '${peer}'`)
  })

  it('express-rate-limit: a limiter that a function makes, with a store from outside, stays', () => {
    const text = `import { MemoryStore, rateLimit } from 'express-rate-limit'
const store = new MemoryStore()
export const make = () => rateLimit({ max: 5, store })
`
    expect(migrateText(text, 'a.js').left[0]?.reason).toContain(
      'store: a function makes the limiter',
    )
    const inside = text.replace('() => rateLimit', 'rateLimit')
    expect(migrateText(inside, 'a.js').left).toEqual([])
  })

  it.each([
    [
      'an insurance of a class',
      `class Limits {
  constructor(client) {
    this.insurance = new RateLimiterMemory({ points: 5 })
    this.limiter = new RateLimiterRedis({ storeClient: client, insuranceLimiter: this.insurance })
  }
  read(key) { return this.limiter.get(key) }
}`,
      'this.insurance',
    ],
    [
      'a counted prefix',
      `const one = new RateLimiterRedis({ storeClient, keyPrefix: 'a' })
const two = new RateLimiterRedis({ storeClient, keyPrefix: 'a' })
export const read = (key) => one.get(key)`,
      "has the prefix 'a' too",
    ],
    [
      'options',
      `const options = { points: 5, duration: 1 }
const one = new RateLimiterMemory(options)
const two = new RateLimiterMemory(options)
export const read = (key) => one.get(key)`,
      'made or read elsewhere',
    ],
  ])('what stays shares nothing with what is rewritten: %s', (_, code, reason) => {
    const text = `import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'\n${code}\n`
    const { rewritten, left, text: after } = migrateText(text, 'a.js')
    expect({ rewritten, left: left.length }).toEqual({ rewritten: 0, left: 2 })
    expect(left.map((each) => each.reason).join()).toContain(reason)
    expect(withoutComments(after)).toBe(text)
  })

  it.each([
    ['if (e instanceof Error) throw e', "onStoreError: 'deny'", 'answered with an error'],
    [
      'if (e instanceof Error) return res.status(503).end()',
      "onStoreError: 'deny'",
      'answered with',
    ],
    ['if (e instanceof Error) return next(e)', "onStoreError: 'deny'", 'answered with an error'],
    ['if (e instanceof Error) return next()', 'keyPrefix', 'goes on counting'],
  ])('rate-limiter-flexible: it does what it did while Redis is away: %s', (test, option, note) => {
    const text = `const flexible_1 = require('rate-limiter-flexible')
const limiter = new flexible_1.RateLimiterRedis({ storeClient: client, keyPrefix: 'keyPrefix' })
exports.limit = async (req, res, next) => {
  try { await limiter.consume(req.ip); next() } catch (e) {
    ${test}
    res.sendStatus(429)
  }
}
`
    const { text: after, rewritten } = migrateText(text, 'a.js')
    expect(rewritten).toBe(1)
    expect(after).toContain(option)
    expect(after.replace(/\s*\/\/ /g, ' ')).toContain(note)
  })

  it('hono-rate-limiter: statusCode stays beside a message', () => {
    const text = `import { rateLimiter } from 'hono-rate-limiter'
app.use(rateLimiter({ keyGenerator, limit: 5, statusCode: 503, message: 'no' }))
`
    const { text: after, left } = migrateText(text, 'a.js')
    expect(left).toEqual([])
    expect(after).toContain("statusCode: 503, respond: (_decision, c) => c.text('no', 503)")
  })

  it.each([
    [
      "import { RateLimiterRes } from 'rate-limiter-flexible'\nexport const is = (e) => e instanceof RateLimiterRes\n",
      'makes no limiter',
    ],
    [
      "import type { RateLimitPluginOptions } from '@fastify/rate-limit'\nexport const options: RateLimitPluginOptions = { max: 5 }\n",
      'makes no limiter',
    ],
    ["const Bottleneck = require('bottleneck')\n", 'Nothing in this file uses bottleneck'],
    [
      "export { rateLimit } from 'express-rate-limit'\n",
      'Other files use express-rate-limit by this one',
    ],
    [
      "export * from 'rate-limiter-flexible'\n",
      'Other files use rate-limiter-flexible by this one',
    ],
  ])('without a limiter says why it stays: %s', (text, reason) => {
    const { left, peers, text: after } = migrateText(text, 'a.ts')
    expect({ left, peers: peers.length }).toEqual({
      left: [{ line: expect.any(Number), reason: expect.stringContaining(reason) }],
      peers: 1,
    })
    expect(withoutComments(after)).toBe(text)
  })

  it('says a reason once, and that the next one is the same', () => {
    const one = 'rateLimit({ max: 0 })'
    const text = `import { rateLimit } from 'express-rate-limit'\nuse(${one}, ${one})\nuse(${one})\n`
    const { text: after, left } = migrateText(text, 'a.js')
    expect(left).toHaveLength(3)
    expect(after.match(/A limit of 0/g)).toHaveLength(1)
    expect(after).toContain('// sluice: this stays as it is. The reason is the one above.\nuse(')
  })

  it('says what a limiter may have done besides: fields of CORS, parts of a batch', () => {
    const text = `${handling('')}res.setHeader('Access-Control-Allow-Origin', '*')\napp.post('/batch', all)\n`
    const { text: after } = migrateText(text, 'a.js')
    expect(after).toMatch(/sluice: browsers read a refusal[^\n]*\n.*respond\.\nres\.setHeader/)
    expect(after).toContain('// sluice: a request with several parts costs one unit')
    const inside = handling("res.setHeader('Access-Control-Allow-Origin', '*');")
    expect(migrateText(inside, 'a.js').text).not.toContain('browsers read')
  })

  const upstash = (
    code: string,
    from = '@upstash/redis',
  ) => `import { Ratelimit } from '@upstash/ratelimit'
import { Redis } from '${from}'
${code}
`
  const LIMITER =
    "new Ratelimit({ redis: Redis.fromEnv(), limiter: Ratelimit.slidingWindow(10, '10 s'), prefix: '@upstash/ratelimit' })"

  it.each([
    [
      'const { success, pending } = await limiter.limit(key)\n  context.waitUntil(pending)',
      ['{ allowed: success }'],
    ],
    ['const { pending } = await limiter.limit(key)\n  log(pending)', ['log(Promise.resolve())']],
    ['const result = await limiter.limit(key)\n  await result.pending', ['limiter.consume(key)']],
  ])('@upstash/ratelimit: there is nothing to wait for after consume: %s', (use, expected) => {
    const code = `const limiter = ${LIMITER}\nexport async function check(key, context) {\n  ${use}\n}`
    const { text: after, left } = migrateText(upstash(code, '@upstash/redis/cloudflare'), 'a.js')
    expect(left).toEqual([])
    for (const each of [...expected, "prefix: 'upstash.ratelimit'"]) expect(after).toContain(each)
    expect(after).not.toContain('pending')
  })

  it.each([
    `const limiters = { free: ${LIMITER} }
export const check = async (key) => (await limiters.free.limit(key)).success`,
    `const limiter = url ? ${LIMITER} : undefined
export const check = async (key) => { if (limiter) return (await limiter.limit(key)).success }`,
  ])('@upstash/ratelimit: limiters of an object, or perhaps none, are seen: %s', (code) => {
    const { text: after, left } = migrateText(upstash(code), 'a.js')
    expect(left).toEqual([])
    expect(after).toContain('.consume(key)).allowed')
  })

  it('@upstash/ratelimit: a field of the awaited call is read of the decision', () => {
    const code = `const limiter = ${LIMITER}
export const check = async (key) => (await limiter.limit(key)).reset`
    const { text: after } = migrateText(upstash(code), 'a.js')
    expect(after).toContain('=> (Date.now() + (await limiter.consume(key)).resetMs)')
  })

  it('a method that is renamed stays a method', () => {
    const text = `import { rateLimit } from 'express-rate-limit'
rateLimit({ max: 5, async handler(req, res) { res.send(429) }, skip(req) { return req.own } })`
    const { text: after } = migrateText(text, 'a.js')
    expect(after).toContain('async respond(_decision, req, res) { res.send(429) }')
    expect(after).toContain('skip(req) { return req.own }')
  })

  it('hono-rate-limiter: without keyGenerator it says what to write', () => {
    const text = "import { rateLimiter } from 'hono-rate-limiter'\nrateLimiter({ limit: 5 })\n"
    expect(migrateText(text, 'a.js').left[0]?.reason).toContain('address: (c) => getConnInfo(c)')
  })

  it('@upstash/ratelimit: a field that a decision does not have is named', () => {
    const text = (use: string) => `import { Ratelimit } from '@upstash/ratelimit'
import { Redis } from '@upstash/redis'
const limiter = new Ratelimit({ redis: Redis.fromEnv(), limiter: Ratelimit.fixedWindow(5, '1 m') })
async function check(key) {
  ${use}
}
`
    for (const use of [
      'const { success, reason } = await limiter.limit(key)',
      'const result = await limiter.limit(key)\n  log(result.reason)',
    ]) {
      const { left } = migrateText(text(use), 'a.js')
      expect(left[0]?.reason).toContain('reason: a decision has no such field.')
    }
  })

  it.each([
    ['slow', 'slow * 1000'],
    ['times.slow', 'times.slow * 1000'],
    ['slow ? 60 : 1', '(slow ? 60 : 1) * 1000'],
    ['slow ?? 1', '(slow ?? 1) * 1000'],
    ['slow + 1', '(slow + 1) * 1000'],
  ])('a number of seconds that is made at run time is multiplied as a whole: %s', (there, here) => {
    const text = `import { RateLimiterMemory } from 'rate-limiter-flexible'
export const limiter = new RateLimiterMemory({ points: 5, duration: ${there} })
`
    expect(migrateText(text, 'a.js').text).toContain(`window: ${here}`)
  })

  it('a function that takes its second parameter apart reads it', () => {
    const text = `import { rateLimit } from 'express-rate-limit'
app.use(rateLimit({ limit: 5, skip: (req, { locals }) => locals.free }))
`
    expect(migrateText(text, 'a.js').left[0]?.reason).toContain('reads parameters')
  })

  it('@nestjs/throttler: a duration that is made at run time needs no helper', () => {
    const text = (ttl: string) => `import { ThrottlerModule, seconds } from '@nestjs/throttler'
export const limits = ThrottlerModule.forRoot([{ ttl: ${ttl}, limit: 5 }])
`
    const { text: after } = migrateText(text('seconds(config.ttl)'), 'a.ts')
    expect(after).toContain('window: config.ttl * 1000,')
    expect(after).not.toContain('seconds')
    expect(migrateText(text('seconds(a + b)'), 'a.ts').text).toContain('window: (a + b) * 1000,')
    const inMinutes = text('minutes(config.ttl)').replace('seconds }', 'minutes }')
    expect(migrateText(inMinutes, 'a.ts').text).toContain('window: config.ttl * 60000,')
  })

  const LOGIN = `\`login:\${req.user.id}\``

  it.each([
    ['req.user.id', 'String(req.user.id)'],
    ['req.ip', 'String(req.ip)'],
    ["req.ip ?? ''", "req.ip ?? ''"],
    ["req.user.id ?? ''", "String(req.user.id ?? '')"],
    ["'login:' + req.user.id", "'login:' + req.user.id"],
    [LOGIN, LOGIN],
    ['req.body.email.toLowerCase()', 'req.body.email.toLowerCase()'],
    ['name', 'name'],
    ['text', 'text'],
    ['other', 'String(other)'],
  ])('rate-limiter-flexible: the key %s is text: %s', (key, here) => {
    const text = `import { RateLimiterMemory } from 'rate-limiter-flexible'
const limiter = new RateLimiterMemory({ points: 5, duration: 60 })
const text = 'a'
async function check(req: Request, name: string, other: Key) {
  try {
    await limiter.consume(${key})
  } catch {
    return refuse()
  }
  await limiter.reward(${key}, 1)
}
`
    const { text: after } = migrateText(text, 'a.ts')
    expect(after).toContain(`limiter.consume(${here})`)
    expect(after).toContain(`limiter.settle(${here}, -1)`)
  })

  it('rate-limiter-flexible: a rejection that nothing handles goes to Express', () => {
    const text = (
      parameters: string,
    ) => `const { RateLimiterRedis } = require('rate-limiter-flexible')
const limiter = new RateLimiterRedis({ storeClient, points: 5, duration: 60, keyPrefix: 'a' })
module.exports = (${parameters}) => {
  limiter.consume(req.ip).then(() => next()).catch(() => res.sendStatus(429))
}
`
    expect(migrateText(text('req, res, next'), 'a.js').text).toMatch(/\}\)\s*\.catch\(next\)/)
    expect(migrateText(text('req, res'), 'a.js').text).not.toContain('catch')
  })

  it('a function that only a store called goes with it, and so does the type that it named', () => {
    const text = `import { rateLimit } from 'express-rate-limit'
import { RedisStore, type RedisReply } from 'rate-limit-redis'
import { redis } from './redis.js'
const sendCommand = (name: string, ...args: string[]) => redis.call(name, ...args) as Promise<RedisReply>
export const limiter = rateLimit({ limit: 5, store: new RedisStore({ sendCommand, prefix: 'a:' }) })
`
    const { text: after, left } = migrateText(text, 'a.ts')
    expect(left).toEqual([])
    expect(after).toContain('store: redis')
    expect(after).not.toMatch(/sendCommand|RedisReply|rate-limit-redis/)
  })

  it('@upstash/ratelimit: a client of another file says what to write', () => {
    const text = `import { Ratelimit } from '@upstash/ratelimit'
import { redis } from './redis'
const limiter = new Ratelimit({ redis, limiter: Ratelimit.fixedWindow(5, '1 m') })
export const check = async (key) => (await limiter.limit(key)).success
`
    expect(migrateText(text, 'a.js').left[0]?.reason).toContain(
      'write createLimiter({ store: redis',
    )
  })

  it.each([
    ['ip', "addressKey(ip) ?? 'unknown'"],
    ['ip, 48', "addressKey(ip, 48) ?? 'unknown'"],
    ['ip, false', "addressKey(ip, 128) ?? 'unknown'"],
  ])('ipKeyGenerator(%s) becomes %s', (given, here) => {
    const text = `import { ipKeyGenerator } from 'express-rate-limit'
export const keyOf = (ip: string) => ipKeyGenerator(${given})
`
    expect(migrateText(text, 'a.ts').text).toContain(here)
  })

  it('an address that may be a request stays with its helper', () => {
    const text = `import { ipKeyGenerator } from 'express-rate-limit'
export const keyOf = (req: Request) => ipKeyGenerator(req as any)
`
    expect(migrateText(text, 'a.ts').text).toContain('ipKeyGenerator(req as any)')
  })

  it('of others than the peer stays, also where it has the same names', () => {
    const own = "import { rateLimit } from './own'\nrateLimit({ windowMs: 5, max: 3 })\n"
    expect(migrateText(own, 'a.ts')).toMatchObject({ text: own, peers: [] })
    const shadowed =
      "import { rateLimit } from 'express-rate-limit'\nfunction f(rateLimit) { rateLimit({ max: 3 }) }\n"
    expect(migrated(shadowed)).toContain('rateLimit({ max: 3 })')
  })

  it('that can not be rewritten says so in a comment, and keeps working as far as it did', () => {
    const next = express('{ handler(req, res, next) { next() } }')
    expect(next).toContain(
      '// sluice: this stays as it is. handler: respond is called with (decision, request, response).',
    )
    const limiter =
      "import { RateLimiterMemory } from 'rate-limiter-flexible'\nconst l = new RateLimiterMemory({ points: 2, duration: 1 })\nl.consume(k).then(f, g)\n"
    const left = migrated(limiter)
    expect(left).toContain('l.consume(k).then(f, g)')
    expect(left).toContain('new RateLimiterMemory({ points: 2, duration: 1 })')
    expect(left.replace(/\s*\/\/ /g, ' ')).toContain(
      "createLimiter({ limit: 2, window: '1s', algorithm: 'sliding-log' })",
    )
  })

  const LEFT = {
    'express-rate-limit: a limit of no limit': ['max: 0', 'A limit of 0'],
    'express-rate-limit: a limit below 0': [
      'max: -1',
      'max: limit is an integer from 0. -1 is none',
    ],
    'express-rate-limit: a limit without end': ['max: Infinity', 'max: limit is an integer'],
    'express-rate-limit: a part of a request': ['limit: 1.5', 'limit: limit is an integer'],
    'express-rate-limit: a part of a millisecond': [
      'windowMs: 0.5',
      'windowMs: window is an integer',
    ],
    'express-rate-limit: fields that are chosen at run time': [
      'standardHeaders: process.env.FIELDS ?? true',
      'standardHeaders, legacyHeaders: headers takes their place',
    ],
    'express-rate-limit: a policy for a store that is chosen at run time': [
      'passOnStoreError: later',
      'passOnStoreError: onStoreError is',
    ],
    'express-rate-limit: a property of another name': [
      "requestPropertyName: 'quota'",
      'requestPropertyName:',
    ],
    'express-rate-limit: a function of the response': [
      'limit: (req, res) => res.locals.limit',
      'limit: the function reads parameters',
    ],
    'express-rate-limit: a function of the response in a constant': [
      'keyGenerator: byLocals',
      'keyGenerator: the function reads parameters',
    ],
    'express-rate-limit: a store of others': [
      'store: new MongoStore({})',
      'There is no MongoStore',
    ],
    'express-rate-limit: a store that a function makes': ['store: make("login")', 'store: pass'],
    'express-rate-limit: a client that is made later': [
      'store: new RedisStore({ sendCommand: (...args) => later.sendCommand(args) })',
      'store: pass',
    ],
    'express-rate-limit: a decision that is passed on': [
      'handler: (req, res) => { const info = req.rateLimit; res.json(info) }',
      'handler: request.rateLimit is a decision',
    ],
    'express-rate-limit: an error that is caught': [
      "handler: (req, res, next) => { try { next(new Error('no')) } catch { res.end() } }",
      'handler: respond is called',
    ],
    'express-rate-limit: an error of another function': [
      "handler: (req, res, next) => { later(() => next(new Error('no'))) }",
      'handler: respond is called',
    ],
    'express-rate-limit: the next route': [
      "handler: (req, res, next) => next('route')",
      'handler: respond is called',
    ],
    'express-rate-limit: a limit that may be missing': [
      'max: process.env.MAX ? 5 : undefined',
      'limit and window are required',
    ],
    'express-rate-limit: an address of a request': [
      'keyGenerator: (req) => ipKeyGenerator(req)',
      'ipKeyGenerator takes an address',
    ],
    'express-rate-limit: what may be a request': [
      'keyGenerator: (req) => ipKeyGenerator(later ?? req)',
      'ipKeyGenerator takes an address',
    ],
    'express-rate-limit: an argument of unknown meaning': [
      'keyGenerator: (req) => ipKeyGenerator(later(req))',
      'ipKeyGenerator takes an address',
    ],
    'express-rate-limit: options of another file': ['...elsewhere', 'Some of its options'],
    'express-rate-limit: options that are read': ['...READ', 'Some of its options'],
    'express-rate-limit: an option that does not exist': [
      'window: 5',
      'window: nothing takes its place',
    ],
  } as const
  const LEFT_AROUND = `import r, { ipKeyGenerator } from 'express-rate-limit'
import { RedisStore } from 'rate-limit-redis'
import { MongoStore, elsewhere } from './elsewhere'
let later
later = connect()
const make = (prefix) => new RedisStore({ prefix })
const byLocals = (req, res) => res.locals.key
const READ = { windowMs: 5 }
console.log(READ.windowMs)
`

  it.each(Object.entries(LEFT))('stays as it is, and says why: %s', (_, [option, reason]) => {
    const call = `export const limiter = r({ ${option} })\n`
    const { text, rewritten, left } = migrateText(LEFT_AROUND + call, 'a.js')
    const line = LEFT_AROUND.split('\n').length
    expect({ rewritten, left }).toEqual({
      rewritten: 0,
      left: [{ line, reason: expect.stringContaining(reason) }],
    })
    expect(text).toContain(`// sluice: this stays as it is. ${reason}`)
    expect(text.replace(/^\/\/.*\n/gm, '')).toBe(LEFT_AROUND + call)
  })

  it.each([
    [
      '@fastify/rate-limit: a ban at once',
      "app.register(require('@fastify/rate-limit'), { max: 5, ban: 0 })",
      'ban: { after, within, for }',
    ],
    [
      '@fastify/rate-limit: a ban after more refusals than may be counted',
      "app.register(require('@fastify/rate-limit'), { max: 5, ban: 101 })",
      'ban: { after, within, for }',
    ],
    [
      '@fastify/rate-limit: keys that look like addresses',
      "app.register(require('@fastify/rate-limit'), { max: 5, allowList: ['127.0.0.1'], keyGenerator: (request) => request.headers.id })",
      'allowList: with a key function',
    ],
    [
      '@fastify/rate-limit: a limit that is text',
      "app.register(require('@fastify/rate-limit'), { max: process.env.MAX })",
      'max: text, as a variable of the environment is, has no meaning there',
    ],
    [
      '@fastify/rate-limit: a body that is made elsewhere',
      "app.register(require('@fastify/rate-limit'), { max: 5, errorResponseBuilder: makeBody })",
      'errorResponseBuilder: respond is called',
    ],
    [
      '@fastify/rate-limit: a limiter for code of its own',
      'const check = app.createRateLimit({ max: 5 })',
      'createRateLimit: app.rateLimit',
    ],
    [
      '@fastify/rate-limit: a route that is changed later',
      "route.config = { rateLimit: { max: 5, timeWindow: '1m' } }",
      'rateLimit: whether the plugin reads',
    ],
    [
      'express-rate-limit: types of its own',
      "import r from 'express-rate-limit'\nexport function make(options: r.Options) { return r({ max: 5 }) }",
      'Types for it, or for all limiters of this file, are of express-rate-limit: r',
    ],
    [
      'koa-ratelimit: a list of who is refused',
      "require('koa-ratelimit')({ driver: 'memory', db: new Map(), blacklist: isBad })",
      'blacklist: deny lists',
    ],
    [
      '@nestjs/throttler: one policy of several',
      "import { Throttle } from '@nestjs/throttler'\nclass A { @Throttle({ short: { limit: 3, ttl: 1000 } }) a() {} }",
      'Which throttlers the module has is not seen',
    ],
    [
      '@nestjs/throttler: a message of the context',
      "import { ThrottlerModule } from '@nestjs/throttler'\nThrottlerModule.forRoot({ throttlers: [{ ttl: 1000, limit: 3 }], errorMessage: (context) => context.getClass().name })",
      'errorMessage: respond is called',
    ],
    [
      'rate-limiter-flexible: calls that wait',
      "const { RateLimiterMemory } = require('rate-limiter-flexible')\nconst l = new RateLimiterMemory({ points: 3, execEvenly: true })",
      'execEvenly: consume waits',
    ],
    [
      'rate-limiter-flexible: a method that others call',
      "const { RateLimiterMemory } = require('rate-limiter-flexible')\nconst l = new RateLimiterMemory({ points: 3 })\nasync function f() { try { await retry(l.consume) } catch { return false } return true }",
      'Some of its calls, which have a comment',
    ],
    [
      'hono-rate-limiter: a handler that goes on',
      "import { rateLimiter } from 'hono-rate-limiter'\nrateLimiter({ keyGenerator: () => 'a', handler: (c, next) => next() })",
      'handler: respond is called',
    ],
  ])('of others stays as it is too, and says why: %s', (_, code, reason) => {
    const { text, rewritten, left } = migrateText(`${code}\n`, 'a.ts')
    expect({ rewritten, left: left.length }).toEqual({ rewritten: 0, left: 1 })
    expect(text.replace(/\s*\/\/ /g, ' ')).toContain(`sluice: this stays as it is. ${reason}`)
    expect(text.replace(/^ *\/\/.*\n/gm, '').replace(/\s+/g, '')).toBe(code.replace(/\s+/g, ''))
  })

  it.each([
    ['delayMs: 0, max: 3', '{ limit: 3, headers'],
    [
      'handler: (req, res, next, options) => res.send(options.message)',
      "res.send('Too many requests",
    ],
    [
      'requestWasSuccessful: ok, skipFailedRequests: true',
      '((await ok(request, response)) ? 1 : 0)',
    ],
    ['limit: () => 5', "headers: 'legacy', window: '1m' })"],
    ['max: config.max', "algorithm: 'sliding-log'"],
    ["standardHeaders: 'draft-8'", 'there is no pk'],
    ['store: new MemoryStore()', '{ headers'],
    [
      'handler: (req, res) => res.json(Math.ceil((req.rateLimit.resetTime - Date.now()) / 1000))',
      '((Date.now() + decision.resetMs) - Date.now()) / 1000',
    ],
    [
      'handler: (req, res) => res.json(req.rateLimit.resetTime / 1000)',
      'res.json((Date.now() + decision.resetMs) / 1000)',
    ],
    [
      'handler: (req, res) => res.json(req.rateLimit.resetTime)',
      'res.json(new Date(Date.now() + decision.resetMs))',
    ],
  ])('of express-rate-limit with %s has %s', (there, here) => {
    const text = `import r, { MemoryStore } from 'express-rate-limit'\nr({ ${there} })\n`
    expect(migrated(text).replace(/\n\/\/ /g, ' ')).toContain(here)
  })

  it.each(['const { rateLimit: info } = req', 'const info = req.rateLimit', 'use(req.rateLimit)'])(
    'that reads request.rateLimit in another way has a comment: %s',
    (read) => {
      const text = `import r from 'express-rate-limit'\nr({ max: 5 })\nfunction f(req) {\n  ${read}\n}\n`
      const comment = '  // sluice: request.rateLimit is a decision here'
      expect(migrated(text)).toContain(comment)
      expect(migrated(text.replace('max: 5', 'max: 0'))).not.toContain(comment)
    },
  )

  it('is never executed', () => {
    const text = "process.exit(7)\nthrow new Error('no')\nimport r from 'express-rate-limit'\nr()\n"
    expect(migrated(text)).toContain('process.exit(7)')
  })

  it('with an error in its syntax is refused with its position', () => {
    expect(() => migrated('const a = 1\nconst = 2\n')).toThrow(
      expect.objectContaining({ name: 'SourceSyntaxError', line: 2, column: 7 }),
    )
  })
})
