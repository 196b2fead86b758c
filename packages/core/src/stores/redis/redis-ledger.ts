import type { CompiledLimit } from '../../algorithms/algorithm.ts'
import type { Charge, Keyspace, Ledger, StoreResult } from '../store.ts'
import type { Connection } from './connection.ts'
import { partOf, subject } from './keys.ts'
import { Script } from './script.ts'
import { type Operation, type Reply, ScriptCall, toRuling } from './script-call.ts'
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

/** Each operation is one run of the script. In a cluster its keys must be those of one id. */
export class RedisLedger implements Ledger<'async'> {
  readonly part: Ledger['part']
  private readonly backend: Backend
  private readonly prefix: string
  private readonly suffixes: readonly string[]
  private readonly script: Script
  private readonly step: (quota: CompiledLimit) => number

  constructor(backend: Backend, keyspaces: readonly Keyspace[], prefix: string) {
    this.backend = backend
    this.part = backend.connection.isCluster ? partOf : undefined
    this.prefix = `${prefix}:{`
    this.suffixes = keyspaces.map(({ name }) => `}:${name}`)
    const script = new Script(keyspaces.map(({ algorithm }) => algorithm))
    this.script = script
    this.step = ({ algorithm }) => script.step(algorithm)
  }

  async consume(charges: readonly Charge[]): Promise<StoreResult> {
    const [result] = await this.consumeAll([charges])
    if (result instanceof Error) throw result
    return result as StoreResult
  }

  async consumeAll(requests: readonly (readonly Charge[])[]): Promise<(StoreResult | Error)[]> {
    const call = new ScriptCall()
    for (const charges of requests) this.add(call, charges)
    const policies = this.suffixes.length
    const reply = await this.run('consume', call)
    return requests.map((_, i) => {
      try {
        return toRuling(reply, i * policies, policies)
      } catch (error) {
        return error as Error
      }
    })
  }

  async peek(charges: readonly Charge[]): Promise<StoreResult> {
    const reply = await this.run('peek', this.callOf(charges))
    return toRuling(reply, 0, charges.length)
  }

  async settle(charges: readonly Charge[], chargedAt?: number): Promise<void> {
    await this.run('settle', this.callOf(charges), chargedAt)
  }

  async probe(charges: readonly Charge[]): Promise<void> {
    const call = new ScriptCall()
    // A key of its own that is where those of the charges are.
    call.keys.push(`${this.prefix}${subject((charges[0] as Charge).key)}}`)
    this.add(call, charges)
    await this.run('probe', call)
  }

  async block(keys: readonly string[], durationMs: number): Promise<void> {
    await this.run('block', this.callFor(keys, durationMs))
  }

  async reset(keys: readonly string[]): Promise<void> {
    await this.run('reset', this.callFor(keys, 0))
  }

  private async run(op: Operation, call: ScriptCall, chargedAt?: number): Promise<Reply> {
    const { connection, now, minTtlMs, readOnly } = this.backend
    const input = call.input(op, now(), minTtlMs, this.suffixes.length, this.step, chargedAt)
    try {
      return await this.script.run(connection, call.keys, input)
    } catch (error) {
      const failure = toSetupError(error, connection.isCluster)
      if (isReadOnly(failure)) readOnly()
      throw failure
    }
  }

  private add(call: ScriptCall, charges: readonly Charge[]): void {
    for (let i = 0; i < charges.length; i += 1) {
      const { key, limit, cost } = charges[i] as Charge
      call.add(this.key(key, i), limit, cost)
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
    return this.prefix + subject(id) + (this.suffixes[policy] as string)
  }
}
