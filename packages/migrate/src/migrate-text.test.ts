// What comes out for real configurations: the text, its types, and how it limits.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'
import { optionHere } from '@sluice/core/adapter'
import { assert, nat, property, tuple } from 'fast-check'
import request from 'supertest'
import { migrateText, PEERS } from './migrate-text.ts'
import { parseProgram, SourceSyntaxError } from './parse.ts'
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

  it('of koa-ratelimit limits all but what was on its list', async () => {
    const app = require(pathOf('koa-docs', 'after')).callback()
    expect(await statuses(app, '/', 4)).toEqual([200, 200, 200, 429])
    expect(await statuses(app, '/health', 4)).toEqual([200, 200, 200, 200])
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

  it('is about every peer', () => {
    expect(new Set(rows.map(([name]) => name)).size).toBe(PEERS.length)
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
    ['windowMs: 0.5', 'window: 0.5'],
    ['windowMs: -1', 'window: -1'],
    ["'windowMs': 60_000", "window: '1m'"],
    ['ipv6Subnet: false', 'ipv6Prefix: 128'],
    ['message: text', 'respond: (_decision, _request, response) => response.send(text)'],
    ['statusCode: 403', 'respond: (_decision, _request, response) => response.sendStatus(403)'],
    ['skipSuccessfulRequests: false, max: 3', '{ limit: 3'],
    ['keyGenerator: function (req) { return req.ip }, max: 3', '{ limit: 3'],
  ])('express-rate-limit: %s becomes %s', (there, here) => {
    expect(express(`{ ${there} }`)).toContain(here)
  })

  it('of others than the peer stays, also where it has the same names', () => {
    const own = "import { rateLimit } from './own'\nrateLimit({ windowMs: 5, max: 3 })\n"
    expect(migrateText(own, 'a.ts')).toEqual({ text: own, peers: [] })
    const shadowed =
      "import { rateLimit } from 'express-rate-limit'\nfunction f(rateLimit) { rateLimit({ max: 3 }) }\n"
    expect(migrated(shadowed)).toContain('rateLimit({ max: 3 })')
  })

  it('that can not be rewritten says so in a comment, and keeps working as far as it did', () => {
    const next = express('{ handler(req, res, next) { next() } }')
    expect(next).toContain(
      '// sluice: handler: respond is called with (decision, request, response).',
    )
    const limiter =
      "import { RateLimiterMemory } from 'rate-limiter-flexible'\nconst l = new RateLimiterMemory({ points: 2, duration: 1 })\nl.consume(k).then(f, g)\n"
    const left = migrated(limiter)
    expect(left).toContain('l.consume(k).then(f, g)')
    expect(left).toContain('new RateLimiterMemory({ points: 2, duration: 1 })')
    expect(left.replace(/\s*\/\/ /g, ' ')).toContain("createLimiter({ limit: 2, window: '1s' })")
  })

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
