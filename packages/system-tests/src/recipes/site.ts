import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { RateLimitHandler } from '@sluice/express'
import { until } from '@sluice/test-harness/redis'
import express, { type Express, type RequestHandler, type Response } from 'express'

/** Registers its route and limiter, with the application's handler behind it. */
export type Recipe = (app: Express, handler: RequestHandler) => RateLimitHandler

export interface Site {
  /**
   * Sends so many requests together: none is answered by the application before all are decided.
   * @param answer what the application does, for each that reaches it
   */
  atOnce(count: number, answer: (response: Response) => void): Promise<Reply[]>
  /** Waits until the client has so many units left. */
  untilLeft(units: number): Promise<void>
  stop(): Promise<void>
}

export interface Reply {
  readonly status: number
  /** The bytes that came over the connection. */
  readonly bytes: number
}

/** A server with the route of a recipe. */
export async function serveRecipe(recipe: Recipe, method: string, path: string): Promise<Site> {
  const app = express()
  let undecided = 0
  let onward: (() => void)[] = []
  let answer: (response: Response) => void = () => {}
  const decided = () => {
    undecided -= 1
    if (undecided === 0) for (const each of onward.splice(0)) each()
  }
  app.use((_, response, next) => {
    response.on('finish', () => response.statusCode === 429 && decided())
    next()
  })
  const { limiter } = recipe(app, (_, response) => {
    onward.push(() => answer(response))
    decided()
  })
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    atOnce(count, given) {
      undecided = count
      onward = []
      answer = given
      return Promise.all(Array.from({ length: count }, () => send(port, method, path)))
    },
    async untilLeft(units) {
      await until(async () => (await limiter.peek('127.0.0.1')).remaining === units, {
        what: `${units} units are left`,
      })
    },
    stop() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

function send(port: number, method: string, path: string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, agent: false }, (message) => {
      message.on('error', reject)
      message.resume().on('end', () => {
        resolve({ status: message.statusCode as number, bytes: message.socket.bytesRead })
      })
    })
    sent.on('error', reject)
    sent.end()
  })
}
