import { subscribe } from 'node:diagnostics_channel'
import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { OverloadEvent } from '@sluice/core'
import { shedLoad } from '@sluice/express/overload'
import { Router } from 'express'
import {
  CAPACITY,
  CLASSES,
  CONNECTIONS,
  LOAD_SECONDS,
  LOADS,
  type OverloadState,
} from './limits.ts'

const NAME = 'demo'
const SECONDS_SHOWN = 30
const QUERY_MS = (CONNECTIONS * 1000) / CAPACITY

/**
 * A small application behind `shedLoad`, and a load on it that anybody can choose: it waits for a simulated
 * database, so the page's own server stays fast. The load ends by itself, and there is one at a time.
 */
export function overloadRouter(): Router {
  const router = Router()
  const seconds: OverloadState['seconds'][number][] = []
  let load = 0
  let last: OverloadEvent | undefined
  subscribe('sluice:overload', (message) => {
    const event = message as OverloadEvent
    if (event.limiter !== NAME) return
    last = event
    seconds.push({ at: Date.now(), classes: event.classes })
    seconds.splice(0, seconds.length - 2 * SECONDS_SHOWN)
  })
  const query = database()
  router.get(
    '/work/:class',
    shedLoad({
      name: NAME,
      classOf: ({ params }) => (params.class === 'critical' ? 'critical' : 'normal'),
      classes: CLASSES,
    }),
    async (_, response) => {
      await query()
      response.json({ done: true })
    },
  )
  router.get('/state', (_, response) => {
    const since = Date.now() - SECONDS_SHOWN * 1000
    const state: OverloadState = {
      now: Date.now(),
      load,
      limit: last?.limit ?? 0,
      active: last?.active ?? 0,
      waiting: last?.waiting ?? 0,
      signal: last?.signal,
      seconds: seconds.filter(({ at }) => at > since),
    }
    response.json(state)
  })
  router.post('/load/:load', (request, response) => {
    const wanted = Number(request.params.load)
    const port = request.socket.localPort as number
    if (!LOADS.includes(wanted)) return void response.status(404).end()
    if (load === 0) {
      load = wanted
      void sendLoad(`http://127.0.0.1:${port}${request.baseUrl}/work`, wanted).finally(() => {
        load = 0
      })
    }
    response.status(202).end()
  })
  return router
}

/** Half of what can be served is critical, whatever the load is. */
async function sendLoad(url: string, load: number): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  const end = performance.now() + LOAD_SECONDS * 1000
  for (let at = performance.now(); at < end; ) {
    at -= (Math.log(1 - Math.random()) * 1000) / (load * CAPACITY)
    const waitMs = at - performance.now()
    if (waitMs > 1) await sleep(waitMs)
    const name = Math.random() < 0.5 / Math.max(load, 0.5) ? 'critical' : 'normal'
    get(`${url}/${name}`, { agent }, (response) => response.resume()).on('error', () => {})
  }
  // Requests that still wait are answered before.
  await sleep(2000)
  agent.destroy()
}

/** Queries that wait for one of a few connections. */
function database(): () => Promise<void> {
  const waiting: (() => void)[] = []
  let busy = 0
  return async () => {
    if (busy === CONNECTIONS) await new Promise<void>((resolve) => waiting.push(resolve))
    else busy += 1
    await sleep(QUERY_MS)
    const next = waiting.shift()
    if (next === undefined) busy -= 1
    else next()
  }
}
