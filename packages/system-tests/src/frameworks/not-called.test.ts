// Mistakes in how a limiter is handed to its framework: each ends with an error that says what to write.

import 'reflect-metadata'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, jest, test } from '@jest/globals'
import { Controller, Get, Module } from '@nestjs/common'
import { Test } from '@nestjs/testing'
import { SluiceError } from '@sluice/core'
import * as express from '@sluice/express'
import * as fastify from '@sluice/fastify'
import * as hono from '@sluice/hono'
import * as koa from '@sluice/koa'
import { RateLimitGuard, RateLimitModule, RateLimits } from '@sluice/nest'
import * as node from '@sluice/node'
import express5 from 'express'
import express4 from 'express4'
import Fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import request from 'supertest'

const OPTIONS = { limit: 100, window: '1m' } as const

/** What every such error has: a code, the address of its explanation, and a fix in the imperative. */
function expectHelp(error: unknown, fix: RegExp): void {
  expect(error).toBeInstanceOf(SluiceError)
  const { code, expected, received, message, fix: given } = error as SluiceError
  expect(given).toMatch(fix)
  expect(message).toContain(given)
  expect(message).toContain(`${code}, http`)
  expect(expected).not.toBe('')
  expect(received).not.toBe('')
}

const CALL_IT = /^Call rateLimit with its options .*: app\.use\(rateLimit\(\{ limit/

describe.each([
  ['4', express4 as unknown as typeof express5],
  ['5', express5],
])('Express %s', (_, framework) => {
  test.each([
    ['@sluice/express', express.rateLimit],
    ['@sluice/koa', koa.rateLimit],
    ['@sluice/hono', hono.rateLimit],
    ['@sluice/node', node.rateLimit],
  ])('app.use(rateLimit) of %s', async (_, rateLimit) => {
    const app = framework()
    app.use(rateLimit as never)
    const failed = jest.fn()
    app.use(((error, _, response, __) => {
      failed(error)
      response.sendStatus(500)
    }) as express5.ErrorRequestHandler)
    await request(app).get('/').expect(500)
    expectHelp(failed.mock.calls[0]?.[0], CALL_IT)
  })
})

test('Fastify: register(rateLimit({ … })), and a hook', async () => {
  const { rateLimit } = fastify
  const REGISTER = /^Register it, .*await app\.register\(rateLimit, \{ limit/
  expectHelp(
    thrown(() => rateLimit(OPTIONS as never, undefined as never)),
    REGISTER,
  )
  expectHelp(
    thrown(() => (rateLimit as () => unknown)()),
    REGISTER,
  )

  const app = Fastify()
  app.addHook('onRequest', rateLimit as never)
  const failed = jest.fn()
  app.setErrorHandler((error, _, reply) => {
    failed(error)
    return reply.code(500).send()
  })
  await app.ready()
  await request(app.server).get('/').expect(500)
  expectHelp(failed.mock.calls[0]?.[0], REGISTER)
  await app.close()
})

test('Fastify: register(rateLimit) without options', async () => {
  const app = Fastify()
  await expect(app.register(fastify.rateLimit as never)).rejects.toMatchObject({
    code: 'SLUICE_OPTION_TYPE',
    option: 'limit',
  })
})

test('Koa: app.use(rateLimit)', async () => {
  const app = new Koa()
  app.use(koa.rateLimit as never)
  const failed = jest.fn()
  app.on('error', failed)
  await request(app.callback()).get('/').expect(500)
  expectHelp(failed.mock.calls[0]?.[0], CALL_IT)
})

test('Hono: app.use(rateLimit), and what a runtime calls', async () => {
  const app = new Hono()
  app.use(hono.rateLimit as never)
  const failed = jest.fn()
  app.onError((error, c) => {
    failed(error)
    return c.text('', 500)
  })
  expect((await app.request('/')).status).toBe(500)
  expectHelp(failed.mock.calls[0]?.[0], CALL_IT)
  const address = () => '127.0.0.1'
  const { limitFetch } = hono
  expectHelp(
    thrown(() => limitFetch(new Request('http://localhost/') as never, {} as never)),
    CALL_IT,
  )
  expectHelp(
    thrown(() => limitFetch({ ...OPTIONS, address }, undefined as never)),
    /^Give handler as/,
  )
})

test('Node: createServer(rateLimit), and createServer(rateLimit({ … }))', () => {
  const message = new IncomingMessage(new Socket())
  const response = new ServerResponse(message)
  expectHelp(
    thrown(() => (node.rateLimit as (...args: unknown[]) => unknown)(message, response)),
    CALL_IT,
  )
  const limit = node.rateLimit(OPTIONS)
  expectHelp(
    thrown(() => limit(message, response, undefined as never)),
    /^Give next as a function that serves the request/,
  )
  limit.limiter.close()
})

test.each([
  ['express', express.rateLimit],
  ['koa', koa.rateLimit],
  ['hono', hono.rateLimit],
  ['node', node.rateLimit],
])('%s: rateLimit() and rateLimit(redis)', (_, rateLimit) => {
  const make = rateLimit as (options?: unknown) => unknown
  expectHelp(
    thrown(() => make()),
    /^Give options as an object/,
  )
  class Redis {
    status = 'ready'
  }
  expectHelp(
    thrown(() => make(new Redis())),
    CALL_IT,
  )
})

describe('Nest', () => {
  class Hello {
    hello() {
      return 'hello'
    }
  }
  Controller()(Hello)
  Get()(Hello.prototype, 'hello', Object.getOwnPropertyDescriptor(Hello.prototype, 'hello')!)
  const started = (metadata: object) => Test.createTestingModule(metadata).compile()

  test('imports: [RateLimitModule]', async () => {
    const starting = started({ imports: [RateLimitModule], controllers: [Hello] })
    const error = await starting.catch((error: unknown) => error)
    expectHelp(error, /^Write imports: \[RateLimitModule\.forRoot\(/)
  })

  test('imports: [RateLimitModule] in a module of an application that has forRoot is no mistake', async () => {
    class Feature {}
    Module({ imports: [RateLimitModule] })(Feature)
    const imports = [RateLimitModule.forRoot(OPTIONS), Feature]
    const app = await started({ imports, controllers: [Hello] })
    expect(app.get(RateLimits)).toBeInstanceOf(RateLimits)
    await app.close()
  })

  test('a guard without the limits of the module', () => {
    for (const given of [undefined, OPTIONS, new IncomingMessage(new Socket())])
      expectHelp(
        thrown(() => new RateLimitGuard(given as never)),
        /^Let Nest make it: /,
      )
  })

  test('app.use(rateLimit) of @sluice/express', async () => {
    const app = (await started({ controllers: [Hello] })).createNestApplication({ logger: false })
    app.use(express.rateLimit)
    const failed = jest.fn()
    app.useGlobalFilters({
      catch(error, host) {
        failed(error)
        host.switchToHttp().getResponse().sendStatus(500)
      },
    })
    await app.init()
    await request(app.getHttpServer()).get('/').expect(500)
    expectHelp(failed.mock.calls[0]?.[0], CALL_IT)
    await app.close()
  })
})

function thrown(call: () => unknown): unknown {
  try {
    call()
    return undefined
  } catch (error) {
    return error
  }
}
