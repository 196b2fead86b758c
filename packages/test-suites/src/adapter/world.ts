import { mkdtemp, rm } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Decision, Store } from '@sluice/core'
import {
  type FailingStore,
  failingStore,
  type ManualClock,
  manualClock,
} from '@sluice/core/testing'
import type { Runner } from '../runner.ts'
import { type AdapterKit, type SuiteRequest, type TestOptions, translate } from './adapter-kit.ts'
import { type SendOptions, send, type Target } from './client.ts'
import { recordingStore } from './recording-store.ts'
import type { Reply } from './reply.ts'
import { notingWarnings } from './warnings.ts'

/** 2026-11-20T12:00:00Z: where windows of a minute, an hour and half a day begin. */
export const NOON = 1_795_176_000_000

/** Makes a store on a clock; without one, on the store's own. */
export type MakeStore = (clock: (() => number) | undefined) => Store

export interface StartOptions {
  readonly trustProxy?: unknown
  /** Header fields that the application sets before the limiters run. */
  readonly fields?: Readonly<Record<string, string>>
  /** The text that the application sends before the limiters run. */
  readonly early?: string
  /** Default: `{ id }` with the id from the header field `x-user`. */
  readonly user?: (request: SuiteRequest) => unknown
  /** The status of the application's response. Default: 200. */
  readonly status?: number
  /** The body of the application's response. Default: a word. */
  readonly body?: string
  /** The body in parts. Default: it is not sent in parts. */
  readonly chunks?: () => AsyncIterable<string>
  /** Whether requests pass all limiters twice. Default: once. */
  readonly passedTwice?: boolean
  /** The work of the application before it responds. Default: none. */
  readonly work?: () => Promise<void>
  /** The address to listen on. Default: `127.0.0.1`. */
  readonly listen?: '127.0.0.1' | '::' | 'socket'
  /** True: time passes by itself. */
  readonly realTime?: boolean
}

/** A server that runs for one test. */
export interface RunningSite {
  readonly target: Target
  send(options?: SendOptions): Promise<Reply>
  /** Sends the same request so many times, one after the other. */
  sendTimes(count: number, options?: SendOptions): Promise<Reply[]>
  /** The key of every charge, in order. */
  readonly keys: readonly string[]
  /** The decision on each request that reached the application. */
  readonly decisions: readonly (Decision | undefined)[]
  /** The errors that reached the framework's error handler. */
  readonly errors: readonly unknown[]
}

/** Sites of this process: each has keys of its own in a store that others share. */
let started = 0

/** Where the tests of a table run: a framework, a store, and a clock that moves only on demand. */
export class World {
  /** A new one for each test, at noon. */
  clock: ManualClock = manualClock(NOON)
  readonly #runner: Runner
  readonly #kit: AdapterKit<never, never>
  readonly #makeStore: MakeStore
  readonly #ends: (() => Promise<unknown>)[] = []

  constructor(runner: Runner, kit: AdapterKit<never, never>, makeStore: MakeStore) {
    this.#runner = runner
    this.#kit = kit
    this.#makeStore = makeStore
  }

  get unsafeTrust(): readonly (readonly [setting: unknown, warning: string])[] {
    return this.#kit.unsafeTrust ?? []
  }

  readonly describe = (name: string, define: () => void): void => {
    this.#runner.describe(name, define)
  }

  /** Registers a test. Its servers and stores end with it. */
  readonly test = (name: string, run: () => Promise<void>): void => {
    this.#runner.test(name, async () => {
      try {
        await notingWarnings(run)
      } finally {
        await this.#end()
      }
    })
  }

  /** A store that fails on demand, for one test. */
  failingStore(): FailingStore {
    const store = failingStore({ clock: this.clock })
    this.#ends.push(async () => store.close())
    return store
  }

  /** Rejects with what the adapter throws for wrong options. */
  async start(
    given: TestOptions | readonly TestOptions[],
    options: StartOptions = {},
  ): Promise<RunningSite> {
    const keys: string[] = []
    const decisions: (Decision | undefined)[] = []
    const errors: unknown[] = []
    const store = recordingStore(this.#makeStore(options.realTime ? undefined : this.clock), keys)
    this.#ends.push(async () => store.close())
    started += 1
    const prefix = `t${process.pid}-${started}`
    const limiters = [given].flat() as TestOptions[]
    const server = await this.#kit.serve({
      limiters: limiters.map((each, i) => {
        // Limiters with different limits must not share a count.
        const own = { store, prefix: i === 0 ? prefix : `${prefix}-${i}` }
        // A busy machine must not make the process decide by itself.
        return translate({ ...own, deadline: '1m', ...each } as TestOptions, this.#kit)
      }),
      passedTwice: options.passedTwice ?? false,
      trustProxy: options.trustProxy,
      user: (request) => (options.user ?? signedIn)(this.#kit.read(request)),
      fields: options.fields ?? {},
      early: options.early,
      async handle(decision) {
        decisions.push(decision)
        await options.work?.()
        const answer = { status: options.status ?? 200, body: options.body ?? 'served' }
        return options.chunks === undefined ? answer : { ...answer, chunks: options.chunks() }
      },
      failed: (error) => errors.push(error),
    })
    const target = await this.#listen(server, options.listen ?? '127.0.0.1')
    const sendOne = (request?: SendOptions) => send(target, request)
    const sendTimes = async (count: number, request?: SendOptions) => {
      const replies: Reply[] = []
      for (let i = 0; i < count; i += 1) replies.push(await sendOne(request))
      return replies
    }
    return { target, send: sendOne, sendTimes, keys, decisions, errors }
  }

  /** Ends the servers of a test, and sets the clock back. */
  async #end(): Promise<void> {
    this.clock = manualClock(NOON)
    await Promise.all(this.#ends.splice(0).map((end) => end()))
  }

  async #listen(server: Server, on: '127.0.0.1' | '::' | 'socket'): Promise<Target> {
    const folder = on === 'socket' ? await mkdtemp(join(tmpdir(), 'sluice-site-')) : undefined
    const socketPath = folder === undefined ? undefined : join(folder, 'http.sock')
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      if (socketPath === undefined) server.listen(0, on, resolve)
      else server.listen(socketPath, resolve)
    })
    this.#ends.push(async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      if (folder !== undefined) await rm(folder, { recursive: true })
    })
    if (socketPath !== undefined) return { socketPath }
    const { port } = server.address() as AddressInfo
    return { host: on === '::' ? '::1' : on, port }
  }
}

function signedIn({ headers }: SuiteRequest): unknown {
  const id = headers['x-user']
  return id === undefined ? undefined : { id }
}
