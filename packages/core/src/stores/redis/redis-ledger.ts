import type { CompiledLimit } from '../../algorithms/algorithm.ts'
import { withBan } from '../rules/decide-all.ts'
import { renewalsOf } from '../rules/slots.ts'
import type { Charge, Keyspaces, Ledger, StoreResult } from '../store.ts'
import type { Connection } from './connection.ts'
import { BLOCK, PROBE, RESET } from './correct.lua.ts'
import { partOf, subject } from './keys.ts'
import { LedgerScripts, type ScriptCall, type ScriptTime } from './ledger-scripts.ts'
import { readReply } from './reply.ts'
import { Script } from './script.ts'
import { isReadOnly, toSetupError } from './setup-error.ts'

/** What the ledgers of a store share. */
export interface Backend {
  readonly connection: Connection
  /** The clock in place of the server's, ms. */
  readonly clock: (() => number) | undefined
  /** How long keys live at least. */
  readonly minTtlMs: number
  /** Called whenever the server says that it is a read-only replica. */
  readOnly(): void
}

const block = new Script(BLOCK)
const reset = new Script(RESET)
const probe = new Script(PROBE)

/** Each operation is one run of a script, a probe two. In a cluster the keys of a run must be those of one id. */
export class RedisLedger implements Ledger<'async'> {
  readonly part: Ledger['part']
  private readonly backend: Backend
  /** The prefixes of the keyspaces; that of the ban is the last one. */
  private readonly prefixes: readonly string[]
  private readonly suffixes: readonly string[]
  private readonly ban: CompiledLimit | undefined
  private readonly scripts: LedgerScripts

  constructor(backend: Backend, { policies, ban }: Keyspaces, prefix: string) {
    this.backend = backend
    this.part = backend.connection.isCluster ? partOf : undefined
    const keyspaces = policies.concat(ban ?? [])
    this.prefixes = keyspaces.map((keyspace) => `${keyspace.prefix ?? prefix}:{`)
    this.suffixes = keyspaces.map(({ name }) => `}:${name}`)
    this.ban = ban?.limit
    this.scripts = new LedgerScripts(keyspaces, ban !== undefined)
  }

  async consume(charges: readonly Charge[]): Promise<StoreResult> {
    return orThrow(await this.consumeAll([charges]))
  }

  consumeAll(requests: readonly (readonly Charge[])[]): Promise<(StoreResult | Error)[]> {
    const all = this.ban ? requests.map((charges) => withBan(charges, this.ban)) : requests
    const read = (reply: unknown) => readReply(reply, requests, this.ban)
    return this.run(this.scripts.decide(all, this.time()), this.keysOf(all), read)
  }

  async peek(charges: readonly Charge[]): Promise<StoreResult> {
    const all = [withBan(charges, this.ban)]
    const read = (reply: unknown) => readReply(reply, [charges], this.ban, true)
    return orThrow(await this.run(this.scripts.peek(all, this.time()), this.keysOf(all), read))
  }

  async settle(charges: readonly Charge[], chargedAt = -1): Promise<void> {
    const call = this.scripts.settle(charges, this.time(), chargedAt)
    await this.run(call, this.keysOf([charges]), done)
  }

  async renew(requests: readonly (readonly Charge[])[]): Promise<void> {
    const renewals = renewalsOf(requests)
    const calls = this.prefixes.map((_, policy) => {
      const own = renewals.filter(({ place }) => place === policy)
      const keys = own.map(({ key }) => this.key(key, policy))
      return keys.length > 0 && this.run(this.scripts.renew(own, this.time()), keys, done)
    })
    await Promise.all(calls)
  }

  async probe(charges: readonly Charge[]): Promise<void> {
    // A key of its own that is where those of the charges are.
    const key = `${this.prefixes[0]}${subject((charges[0] as Charge).key)}}`
    await this.run({ script: probe, args: [`${this.backend.minTtlMs}`] }, [key], done)
    await this.settle(charges)
  }

  async block(key: string, durationMs: number): Promise<void> {
    const { now, minTtlMs } = this.time()
    const args = [`${now}`, `${minTtlMs}`, `${durationMs}`]
    await this.run({ script: block, args }, this.everyKey(key), done)
  }

  async reset(key: string): Promise<void> {
    await this.run({ script: reset, args: [] }, this.everyKey(key), done)
  }

  private time(): ScriptTime {
    const { clock, minTtlMs } = this.backend
    return { now: clock === undefined ? -1 : clock(), minTtlMs }
  }

  private run<T>(
    { script, args }: ScriptCall,
    keys: string[],
    read: (reply: unknown) => T,
  ): Promise<T> {
    return script.run(this.backend.connection, keys, args, read, this.fail)
  }

  private readonly fail = (error: unknown): never => {
    const { connection, readOnly } = this.backend
    const failure = toSetupError(error, connection.isCluster)
    if (isReadOnly(failure)) readOnly()
    throw failure
  }

  private keysOf(requests: readonly (readonly Charge[])[]): string[] {
    const keys: string[] = []
    for (const charges of requests) {
      for (let i = 0; i < charges.length; i += 1) keys.push(this.key((charges[i] as Charge).key, i))
    }
    return keys
  }

  /** The keys of one id in all keyspaces. */
  private everyKey(id: string): string[] {
    return this.prefixes.map((_, keyspace) => this.key(id, keyspace))
  }

  private key(id: string, policy: number): string {
    return (this.prefixes[policy] as string) + subject(id) + (this.suffixes[policy] as string)
  }
}

function done(): void {}

function orThrow([result]: readonly (StoreResult | Error)[]): StoreResult {
  if (result instanceof Error) throw result
  return result as StoreResult
}
