import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** A request of the load. */
export interface Answer {
  readonly path: string
  /** 0: it had no answer in time. */
  readonly status: number
  readonly ms: number
}

/** A client gives up then, ms. */
const PATIENCE_MS = 3000

/** Sends one request, which never rejects. */
function ask(agent: Agent, port: number, path: string): Promise<Answer> {
  const sentAt = performance.now()
  return new Promise((resolve) => {
    const ended = (status: number) => {
      clearTimeout(timer)
      resolve({ path, status, ms: performance.now() - sentAt })
    }
    const sent = request({ host: '127.0.0.1', port, path, agent }, (response) => {
      response.resume()
      response.on('end', () => ended(response.statusCode as number))
      response.on('error', () => ended(0))
    })
    const timer = setTimeout(() => sent.destroy(new Error('gave up')), PATIENCE_MS)
    sent.on('error', () => ended(0))
    sent.end()
  })
}

/**
 * An open loop: requests arrive at random times (a Poisson process), whether or not earlier ones are answered.
 *
 * @param critical how many of the requests are critical, per second
 */
export async function openLoop(
  port: number,
  { perSecond, critical, ms }: { perSecond: number; critical: number; ms: number },
): Promise<Answer[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity })
  const begun = performance.now()
  const answers: Promise<Answer>[] = []
  for (let at = 0; ; ) {
    at -= (Math.log(1 - Math.random()) * 1000) / perSecond
    if (at >= ms) break
    const waitMs = begun + at - performance.now()
    if (waitMs > 1) await sleep(waitMs)
    const path = Math.random() < critical / perSecond ? '/critical' : '/normal'
    answers.push(ask(agent, port, path))
  }
  const all = await Promise.all(answers)
  agent.destroy()
  return all
}

/** How many requests a second are served if so many are always in progress. */
export async function closedLoop(port: number, clients: number, ms: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity })
  const begun = performance.now()
  let served = 0
  const client = async () => {
    while (performance.now() - begun < ms) {
      await ask(agent, port, '/normal')
      served += 1
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  agent.destroy()
  return (served * 1000) / (performance.now() - begun)
}
