import type { Quota } from '../../algorithms/algorithm.ts'
import { SluiceError } from '../../errors.ts'
import type { Charge, Ledger, Ruling, Space } from '../store.ts'
import { Call, type Operation, toRuling } from './call.ts'
import type { RedisClient } from './client.ts'
import { subject } from './keys.ts'
import type { Timing } from './redis-store.ts'
import { Script } from './script.ts'

/** Requests that one run of the script decides at most, so that Redis is never held for long. */
const MAX_BATCH = 128

interface Waiting {
  resolve(ruling: Ruling): void
  reject(error: unknown): void
}

interface Batch {
  call: Call
  waiting: Waiting[]
}

/**
 * Requests that arrive in the same turn of the event loop travel together, in a cluster those of
 * one subject.
 */
export class RedisLedger implements Ledger<'async'> {
  private readonly client: RedisClient
  private readonly timing: Timing
  private readonly prefix: string
  private readonly suffixes: readonly string[]
  private readonly script: Script
  private readonly step: (quota: Quota) => number
  /** By subject in a cluster, else all under ''. */
  private batches = new Map<string, Batch>()

  constructor(client: RedisClient, timing: Timing, spaces: readonly Space[], prefix: string) {
    this.client = client
    this.timing = timing
    this.prefix = `${prefix}:{`
    this.suffixes = spaces.map(({ name }) => `}:${name}`)
    const script = new Script(spaces.map(({ algorithm }) => algorithm))
    this.script = script
    this.step = ({ algorithm }) => script.step(algorithm)
  }

  consume(charges: readonly Charge[]): Promise<Ruling> {
    return new Promise((resolve, reject) => {
      const route = this.route(charges)
      const batch = this.batches.get(route) ?? this.startBatch(route)
      this.add(batch.call, charges)
      batch.waiting.push({ resolve, reject })
      if (batch.waiting.length === MAX_BATCH) {
        this.batches.delete(route)
        void this.send(batch)
      }
    })
  }

  async peek(charges: readonly Charge[]): Promise<Ruling> {
    this.route(charges)
    const call = new Call()
    this.add(call, charges)
    return toRuling(await this.run('peek', call), 0, this.suffixes.length)
  }

  async settle(charges: readonly Charge[], chargedAt?: number): Promise<void> {
    this.route(charges)
    const call = new Call()
    this.add(call, charges)
    await this.run('settle', call, chargedAt)
  }

  async block(keys: readonly string[], durationMs: number): Promise<void> {
    const call = new Call()
    for (let i = 0; i < keys.length; i += 1) call.addKey(this.key(keys[i] as string, i), durationMs)
    await this.run('block', call)
  }

  async reset(keys: readonly string[]): Promise<void> {
    const call = new Call()
    for (let i = 0; i < keys.length; i += 1) call.addKey(this.key(keys[i] as string, i), 0)
    await this.run('reset', call)
  }

  private startBatch(route: string): Batch {
    if (this.batches.size === 0) setImmediate(() => this.sendAll())
    const batch = { call: new Call(), waiting: [] }
    this.batches.set(route, batch)
    return batch
  }

  private sendAll(): void {
    const { batches } = this
    this.batches = new Map()
    for (const batch of batches.values()) void this.send(batch)
  }

  private async send({ call, waiting }: Batch): Promise<void> {
    const policies = this.suffixes.length
    try {
      const reply = await this.run('consume', call)
      for (let i = 0; i < waiting.length; i += 1) {
        waiting[i]?.resolve(toRuling(reply, i * policies, policies))
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    }
  }

  private run(op: Operation, call: Call, chargedAt?: number): Promise<readonly unknown[]> {
    const { timing, suffixes, step } = this
    const input = call.input(op, timing.now(), timing.minTtlMs, suffixes.length, step, chargedAt)
    return this.script.run(this.client, call.keys, input)
  }

  private add(call: Call, charges: readonly Charge[]): void {
    for (let i = 0; i < charges.length; i += 1) {
      const { key, quota, cost } = charges[i] as Charge
      call.add(this.key(key, i), quota, cost)
    }
  }

  private key(id: string, i: number): string {
    return this.prefix + subject(id) + (this.suffixes[i] as string)
  }

  /** Which batch the charges may travel in. */
  private route(charges: readonly Charge[]): string {
    if (this.client.isCluster !== true) return ''
    const { key } = charges[0] as Charge
    const other = charges.find((charge) => charge.key !== key)
    if (other === undefined) return key
    throw new SluiceError({
      code: 'SLUICE_CLUSTER_SUBJECTS',
      option: 'policies',
      expected: 'one key for all policies, since a Redis Cluster decides within one slot',
      received: [key, other.key],
      fix: 'Use one limiter for each kind of key, or a Redis that is no cluster.',
    })
  }
}
