import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import underPressure from '@fastify/under-pressure'
import { shedLoad } from '@sluice/express/overload'
import { shedLoad as shedNode } from '@sluice/node/overload'
import express, { type Express } from 'express'
import fastify from 'fastify'
import protect from 'overload-protection'
import toobusy from 'toobusy-js'
import { defineContender } from '../processes/task.ts'

export interface OverloadTask {
  readonly contender: string
  readonly handler: keyof typeof HANDLERS
}

/** Keeps the event loop busy. */
function compute(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

/** A database of so many connections, whose queries take so long. */
function database(connections: number, ms: number): () => Promise<void> {
  const waiting: (() => void)[] = []
  let busy = 0
  return async () => {
    if (busy === connections) await new Promise<void>((resolve) => waiting.push(resolve))
    else busy += 1
    await sleep(ms)
    const next = waiting.shift()
    if (next === undefined) busy -= 1
    else next()
  }
}

const query = database(10, 100)

/** Each can do about 100 requests a second. */
const HANDLERS = {
  cpu: () => compute(10),
  database: query,
  async mix() {
    await query()
    compute(5)
  },
}

const TERMS = {
  classOf: ({ url }: { url?: string }) => (url === '/critical' ? 'critical' : 'normal'),
  classes: { critical: { reserve: 0.3 }, normal: {} },
  skip: ({ url }: { url?: string }) => url === '/health',
} as const

type Protection = (app: Express) => void

/** On Express, with the settings that each one's README begins with. */
const PROTECTIONS: { readonly [contender: string]: Protection } = {
  none() {},
  sluice: (app) => void app.use(shedLoad(TERMS)),
  'sluice in front': () => {},
  'overload-protection': (app) =>
    void app.use(protect('express', { production: true, clientRetrySecs: 1 })),
  'toobusy-js': (app) =>
    void app.use((_, response, next) => {
      if (toobusy()) response.status(503).send('too busy')
      else next()
    }),
}

async function listenExpress(contender: string, handle: () => unknown): Promise<number> {
  const app = express()
  PROTECTIONS[contender]?.(app)
  app.get('/health', (_, response) => void response.send('ok'))
  app.use(async (_, response) => {
    await handle()
    response.json({ done: true })
  })
  const shed = shedNode(TERMS)
  const inFront: RequestListener = (request, response) =>
    shed(request, response, () => app(request, response))
  const server = createServer(contender === 'sluice in front' ? inFront : app)
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

async function listenFastify(handle: () => unknown): Promise<number> {
  const app = fastify()
  await app.register(underPressure, { maxEventLoopDelay: 1000, maxEventLoopUtilization: 0.98 })
  app.get('/health', async () => 'ok')
  app.get('/*', async () => {
    await handle()
    return { done: true }
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return (app.server.address() as AddressInfo).port
}

/** Starts a server that one contender protects. @returns its port */
defineContender(async ({ contender, handler }: OverloadTask) => {
  const handle = HANDLERS[handler]
  const isFastify = contender === '@fastify/under-pressure'
  const port = await (isFastify ? listenFastify(handle) : listenExpress(contender, handle))
  return async () => port
})
