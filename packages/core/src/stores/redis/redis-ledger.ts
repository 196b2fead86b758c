import type { Quota } from '../../algorithms/algorithm.ts'
import type { Charge, Ledger, Ruling, Space } from '../store.ts'
import { Call, type Operation, type Reply, toRuling } from './call.ts'
import type { Connection } from './connection.ts'
import { explained, isReadOnly } from './failure.ts'
import { subject } from './keys.ts'
import { Script } from './script.ts'

/** What the ledgers of a store share. */
export interface Backend {
  readonly connection: Connection
  /** When the script is to think it is: ms, or -1 for the server's clock. */
  now(): number
  /** How long keys live at least. */
  readonly minTtlMs: number
  /** Called whenever the server says that it is a read-only replica. */
  readOnly(): void
}

/** Requests that one run of the script decides at most, so that Redis is never held for long. */
const MAX_BATCH = 128

interface Waiting {
  resolve(ruling: Ruling): void
  reject(error: unknown): void
}

interface Batch {
  call: Call
  /** Charges of each request. */
  policies: number
  waiting: Waiting[]
}

/**
 * Requests that arrive in the same turn of the event loop travel together.
 *
 * A call may concern some of the spaces only: `places` says which, in the order of its charges or
 * keys. In a cluster the keys of a call must share a slot, which is the caller's to see to.
 */
export class RedisLedger implements Ledger<'async'> {
  private readonly backend: Backend
  private readonly prefix: string
  private readonly suffixes: readonly string[]
  private readonly all: readonly number[]
  private readonly script: Script
  private readonly step: (quota: Quota) => number
  private batches = new Map<string, Batch>()

  constructor(backend: Backend, spaces: readonly Space[], prefix: string) {
    this.backend = backend
    this.prefix = `${prefix}:{`
    this.suffixes = spaces.map(({ name }) => `}:${name}`)
    this.all = spaces.map((_, place) => place)
    const script = new Script(spaces.map(({ algorithm }) => algorithm))
    this.script = script
    this.step = ({ algorithm }) => script.step(algorithm)
  }

  /** @param route requests of the same one, which must have the same places, share a call */
  consume(charges: readonly Charge[], places = this.all, route = ''): Promise<Ruling> {
    return new Promise((resolve, reject) => {
      const batch = this.batches.get(route) ?? this.startBatch(route, places.length)
      this.add(batch.call, charges, places)
      batch.waiting.push({ resolve, reject })
      if (batch.waiting.length === MAX_BATCH) {
        this.batches.delete(route)
        void this.send(batch)
      }
    })
  }

  peek(charges: readonly Charge[], places = this.all): Promise<Ruling> {
    return this.ask('peek', charges, places)
  }

  async settle(charges: readonly Charge[], chargedAt?: number): Promise<void> {
    await this.correct(charges, chargedAt)
  }

  /** Settles, and says how the charged quotas stand then, as a cost of 0 would find them. */
  correct(charges: readonly Charge[], chargedAt?: number, places = this.all): Promise<Ruling> {
    return this.ask('settle', charges, places, chargedAt)
  }

  async block(keys: readonly string[], durationMs: number, places = this.all): Promise<void> {
    await this.run('block', this.callOf(keys, durationMs, places), keys.length)
  }

  async reset(keys: readonly string[], places = this.all): Promise<void> {
    await this.run('reset', this.callOf(keys, 0, places), keys.length)
  }

  private startBatch(route: string, policies: number): Batch {
    if (this.batches.size === 0) setImmediate(() => this.sendAll())
    const batch = { call: new Call(), policies, waiting: [] }
    this.batches.set(route, batch)
    return batch
  }

  private sendAll(): void {
    const { batches } = this
    this.batches = new Map()
    for (const batch of batches.values()) void this.send(batch)
  }

  private async send({ call, policies, waiting }: Batch): Promise<void> {
    try {
      const reply = await this.run('consume', call, policies)
      waiting.forEach(({ resolve, reject }, i) => {
        try {
          resolve(toRuling(reply, i * policies, policies))
        } catch (error) {
          reject(error)
        }
      })
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    }
  }

  private async ask(
    op: Operation,
    charges: readonly Charge[],
    places: readonly number[],
    chargedAt?: number,
  ): Promise<Ruling> {
    const call = new Call()
    this.add(call, charges, places)
    return toRuling(await this.run(op, call, places.length, chargedAt), 0, places.length)
  }

  private async run(
    op: Operation,
    call: Call,
    policies: number,
    chargedAt?: number,
  ): Promise<Reply> {
    const { connection, now, minTtlMs, readOnly } = this.backend
    const input = call.input(op, now(), minTtlMs, policies, this.step, chargedAt)
    try {
      return await this.script.run(connection, call.keys, input)
    } catch (error) {
      const failure = explained(error)
      if (isReadOnly(failure)) readOnly()
      throw failure
    }
  }

  private add(call: Call, charges: readonly Charge[], places: readonly number[]): void {
    for (let i = 0; i < charges.length; i += 1) {
      const { key, quota, cost } = charges[i] as Charge
      call.add(this.key(key, places[i] as number), quota, cost)
    }
  }

  private callOf(keys: readonly string[], units: number, places: readonly number[]): Call {
    const call = new Call()
    keys.forEach((key, i) => {
      call.add(this.key(key, places[i] as number), undefined, units)
    })
    return call
  }

  private key(id: string, place: number): string {
    return this.prefix + subject(id) + (this.suffixes[place] as string)
  }
}
