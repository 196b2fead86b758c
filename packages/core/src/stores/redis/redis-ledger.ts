import { renewalsOf } from '../rules/slots.ts'
import type { Charge, Keyspace, Ledger, StoreResult } from '../store.ts'
import type { Connection } from './connection.ts'
import { Driver } from './driver.ts'
import { partOf, subject } from './keys.ts'
import { readReply } from './reply.ts'
import { RequestScripts, requestArguments } from './request-scripts.ts'
import { type Operation, ScriptCall } from './script-call.ts'
import { isReadOnly, toSetupError } from './setup-error.ts'

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

/** Each operation is one run of a script. In a cluster its keys must be those of one id. */
export class RedisLedger implements Ledger<'async'> {
  readonly part: Ledger['part']
  private readonly backend: Backend
  private readonly prefixes: readonly string[]
  private readonly suffixes: readonly string[]
  private readonly driver: Driver
  /** What decides requests with the same limits and costs; undefined: the driver does. */
  private readonly requests: RequestScripts | undefined

  constructor(backend: Backend, keyspaces: readonly Keyspace[], prefix: string) {
    const algorithms = keyspaces.map(({ algorithm }) => algorithm)
    this.backend = backend
    this.part = backend.connection.isCluster ? partOf : undefined
    this.prefixes = keyspaces.map((keyspace) => `${keyspace.prefix ?? prefix}:{`)
    this.suffixes = keyspaces.map(({ name }) => `}:${name}`)
    this.driver = new Driver(algorithms)
    const names = this.suffixes.map((suffix, i) => this.prefixes[i] + suffix)
    const isDistinct = new Set(names).size === keyspaces.length
    if (isDistinct) this.requests = RequestScripts.of(algorithms)
  }

  async consume(charges: readonly Charge[]): Promise<StoreResult> {
    return orThrow(await this.consumeAll([charges]))
  }

  consumeAll(requests: readonly (readonly Charge[])[]): Promise<(StoreResult | Error)[]> {
    const keys = this.requests && this.distinctKeys(requests)
    if (this.requests && keys) return this.consumeAlike(requests, keys, this.requests)
    const call = new ScriptCall()
    for (const charges of requests) this.add(call, charges)
    return this.run('consume', call).then((reply) => readReply(reply, requests))
  }

  async peek(charges: readonly Charge[]): Promise<StoreResult> {
    const reply = await this.run('peek', this.callOf(charges))
    return orThrow(readReply(reply, [charges]))
  }

  async settle(charges: readonly Charge[], chargedAt?: number): Promise<void> {
    await this.run('settle', this.callOf(charges), chargedAt)
  }

  async renew(requests: readonly (readonly Charge[])[]): Promise<void> {
    const call = new ScriptCall()
    for (const { place, key, limit, slots } of renewalsOf(requests)) {
      call.add(this.key(key, place), limit, 1, slots)
    }
    if (call.keys.length > 0) await this.run('renew', call)
  }

  async probe(charges: readonly Charge[]): Promise<void> {
    const call = new ScriptCall()
    // A key of its own that is where those of the charges are.
    call.keys.push(`${this.prefixes[0]}${subject((charges[0] as Charge).key)}}`)
    this.add(call, charges)
    await this.run('probe', call)
  }

  async block(keys: readonly string[], durationMs: number): Promise<void> {
    await this.run('block', this.callFor(keys, durationMs))
  }

  async reset(keys: readonly string[]): Promise<void> {
    await this.run('reset', this.callFor(keys, 0))
  }

  /** Decides requests that differ in their keys alone. */
  private consumeAlike(
    requests: readonly (readonly Charge[])[],
    keys: string[],
    scripts: RequestScripts,
  ): Promise<(StoreResult | Error)[]> {
    const { connection, now, minTtlMs } = this.backend
    const charges = requests[0] as readonly Charge[]
    const clock = now()
    const about = clock < 0 ? Date.now() : clock
    const args = requestArguments(charges, clock, about, minTtlMs)
    const read = (reply: unknown) => readReply(reply, requests)
    return scripts.of(charges, about).run(connection, keys, args, read, this.fail)
  }

  /** The keys of requests that differ in nothing else; undefined if others do not. */
  private distinctKeys(requests: readonly (readonly Charge[])[]): string[] | undefined {
    const first = requests[0] as readonly Charge[]
    const keys = first.map(({ key }, i) => this.key(key, i))
    for (let n = 1; n < requests.length; n += 1) {
      const charges = requests[n] as readonly Charge[]
      if (!areAlike(charges, first)) return undefined
      for (let i = 0; i < charges.length; i += 1) keys.push(this.key((charges[i] as Charge).key, i))
    }
    return requests.length === 1 || this.areDistinct(requests) ? keys : undefined
  }

  /** Whether no two requests have the same id for a policy. An id is shorter than the key made of it. */
  private areDistinct(requests: readonly (readonly Charge[])[]): boolean {
    return this.suffixes.every((_, i) => {
      const ids = new Set(requests.map((charges) => (charges[i] as Charge).key))
      return ids.size === requests.length
    })
  }

  private run(op: Operation, call: ScriptCall, chargedAt?: number): Promise<unknown> {
    const { connection, now, minTtlMs } = this.backend
    const { script, step } = this.driver
    const input = call.input(op, now(), minTtlMs, this.suffixes.length, step, chargedAt)
    return script.run(connection, call.keys, [input], (reply) => reply, this.fail)
  }

  private readonly fail = (error: unknown): never => {
    const { connection, readOnly } = this.backend
    const failure = toSetupError(error, connection.isCluster)
    if (isReadOnly(failure)) readOnly()
    throw failure
  }

  private add(call: ScriptCall, charges: readonly Charge[]): void {
    for (let i = 0; i < charges.length; i += 1) {
      const { key, limit, cost, slot } = charges[i] as Charge
      call.add(this.key(key, i), limit, cost, slot)
    }
  }

  private callOf(charges: readonly Charge[]): ScriptCall {
    const call = new ScriptCall()
    this.add(call, charges)
    return call
  }

  private callFor(keys: readonly string[], units: number): ScriptCall {
    const call = new ScriptCall()
    keys.forEach((key, i) => {
      call.add(this.key(key, i), undefined, units)
    })
    return call
  }

  private key(id: string, policy: number): string {
    return (this.prefixes[policy] as string) + subject(id) + (this.suffixes[policy] as string)
  }
}

/** Whether two requests have the same limits and costs. */
function areAlike(some: readonly Charge[], others: readonly Charge[]): boolean {
  for (let i = 0; i < some.length; i += 1) {
    const [one, other] = [some[i] as Charge, others[i] as Charge]
    if (one.limit !== other.limit || one.cost !== other.cost) return false
  }
  return true
}

function orThrow([result]: readonly (StoreResult | Error)[]): StoreResult {
  if (result instanceof Error) throw result
  return result as StoreResult
}
