import { timersEndWithRequest } from '#platform'
import type { CompiledLimit, Override } from '../../algorithms/algorithm.ts'
import type { KeptTerms, LedgerTerms } from '../inspection/kept-terms.ts'
import { withBan } from '../rules/decide-all.ts'
import { renewalsOf } from '../rules/slots.ts'
import type {
  Charge,
  DecisionSource,
  GivenGrant,
  GrantResult,
  Keyspaces,
  Ledger,
  Raise,
  StoreResult,
} from '../store.ts'
import { type RedisConnection, Script } from './connection.ts'
import { BLOCK, PROBE, RESET } from './correct.lua.ts'
import { shardOf, subject } from './keys.ts'
import { LedgerScripts } from './ledger-scripts.ts'
import { readRaises, readReply } from './reply.ts'

const block = new Script(BLOCK)
const reset = new Script(RESET)
const probe = new Script(PROBE)

/** Each operation is one run of a script, a probe two. In a cluster the keys of a run must be those of one id. */
export class RedisLedger implements Ledger<'async'> {
  readonly shard: Ledger['shard']
  private readonly connection: RedisConnection
  /** The prefixes of the keyspaces; that of the ban is the last one. */
  private readonly prefixes: readonly string[]
  private readonly suffixes: readonly string[]
  private readonly ban: CompiledLimit | undefined
  private readonly scripts: LedgerScripts
  private readonly terms: LedgerTerms

  constructor(
    connection: RedisConnection,
    { policies, ban }: Keyspaces,
    prefix: string,
    terms: KeptTerms,
  ) {
    this.connection = connection
    this.shard = connection.isCluster ? shardOf : undefined
    const keyspaces = policies.concat(ban ?? [])
    this.prefixes = keyspaces.map((keyspace) => `${keyspace.prefix ?? prefix}:{`)
    this.suffixes = keyspaces.map(({ name }) => `}:${name}`)
    this.ban = ban?.limit
    this.scripts = new LedgerScripts(keyspaces, ban !== undefined)
    this.terms = terms.of(keyspaces, prefix)
  }

  async consume(charges: readonly Charge[]): Promise<StoreResult> {
    return orThrow(await this.consumeAll([charges]))
  }

  consumeAll(requests: readonly (readonly Charge[])[]): Promise<(StoreResult | Error)[]> {
    const { connection, ban } = this
    const all = ban ? requests.map((charges) => withBan(charges, ban)) : requests
    const call = this.scripts.decide(all, connection.time())
    // What a request leaves behind may end with it, and over HTTP it shares the call.
    if ((timersEndWithRequest || connection.isRest) && performance.now() >= this.terms.dueAt)
      this.terms.keep()
    return connection.runForNumbers(call, this.keysOf(all), (reply) => {
      if (performance.now() >= this.terms.dueAt) this.terms.keep()
      return readReply(reply, requests, ban)
    })
  }

  async peek(charges: readonly Charge[]): Promise<StoreResult> {
    const { connection, ban } = this
    const all = [withBan(charges, ban)]
    const call = this.scripts.peek(all, connection.time())
    const read = (reply: unknown) => readReply(reply, [charges], ban, true)
    return orThrow(await connection.runForNumbers(call, this.keysOf(all), read))
  }

  async settle(
    charges: readonly Charge[],
    chargedAt = -1,
    _source?: DecisionSource,
    raised?: (raise: Raise) => void,
  ): Promise<void> {
    const { connection, scripts } = this
    const call = scripts.settle(charges, connection.time(), chargedAt, raised !== undefined)
    const keys = this.keysOf([charges])
    if (raised === undefined) return connection.run(call, keys, done)
    const read = (reply: unknown) => readRaises(reply, charges, chargedAt)
    for (const raise of await connection.runForNumbers(call, keys, read)) raised(raise)
  }

  async renew(requests: readonly (readonly Charge[])[]): Promise<void> {
    const renewals = renewalsOf(requests)
    const calls = this.prefixes.map(async (_, policy) => {
      const own = renewals.filter(({ place }) => place === policy)
      if (own.length === 0) return
      const keys = own.map(({ key }) => this.everyKey(key)[policy] as string)
      await this.connection.run(this.scripts.renew(own, this.connection.time()), keys, done)
    })
    await Promise.all(calls)
  }

  async probe(charges: readonly Charge[]): Promise<void> {
    // A key of its own that is where those of the charges are.
    const key = `${this.prefixes[0]}${subject((charges[0] as Charge).key)}}`
    const { minTtlMs } = this.connection.time()
    await this.connection.run({ script: probe, args: [`${minTtlMs}`] }, [key], done)
    await this.settle(charges)
  }

  async block(key: string, durationMs: number): Promise<void> {
    const { now, minTtlMs } = this.connection.time()
    const args = [`${now}`, `${minTtlMs}`, `${durationMs}`]
    await this.connection.run({ script: block, args }, this.everyKey(key), done)
    if (performance.now() >= this.terms.dueAt) this.terms.keep()
  }

  async reset(key: string): Promise<void> {
    const { now, minTtlMs } = this.connection.time()
    const args = [`${now}`, `${minTtlMs}`]
    await this.connection.run({ script: reset, args }, this.everyKey(key), done)
  }

  async override(
    policy: number,
    key: string,
    limit: CompiledLimit,
    override: Override | undefined,
  ): Promise<void> {
    const { connection, scripts } = this
    const call = scripts.override(policy, limit, override, connection.time())
    await connection.run(call, [this.everyKey(key)[policy] as string], toGrantResult)
    if (performance.now() >= this.terms.dueAt) this.terms.keep()
  }

  async grant(
    policy: number,
    key: string,
    limit: CompiledLimit,
    grant: GivenGrant,
  ): Promise<GrantResult> {
    const { connection, scripts } = this
    const call = scripts.grant(policy, limit, grant, connection.time())
    const keys = [this.everyKey(key)[policy] as string]
    const result = await connection.run(call, keys, toGrantResult)
    if (performance.now() >= this.terms.dueAt) this.terms.keep()
    return result
  }

  private keysOf(requests: readonly (readonly Pick<Charge, 'key'>[])[]): string[] {
    const { prefixes, suffixes } = this
    const keys: string[] = []
    for (const charges of requests) {
      for (let i = 0; i < charges.length; i += 1) {
        keys.push(`${prefixes[i]}${subject((charges[i] as Charge).key)}${suffixes[i]}`)
      }
    }
    return keys
  }

  /** The keys of one id in all keyspaces. */
  private everyKey(key: string): string[] {
    return this.keysOf([this.prefixes.map(() => ({ key }))])
  }
}

/** What the scripts of own.lua.ts return. */
const GRANT_RESULTS: readonly GrantResult[] = ['granted', 'known', 'too many', 'too much', 'ended']

function toGrantResult(reply: unknown): GrantResult {
  const result = GRANT_RESULTS[Number(reply)]
  if (result === undefined) throw new TypeError('the reply is not that of the script')
  return result
}

/** Scripts that change states reply with nothing: a server that replies with something else is not the store. */
function done(reply: unknown): void {
  if (reply !== null) throw new TypeError('the reply is not that of the script')
}

function orThrow([result]: readonly (StoreResult | Error)[]): StoreResult {
  if (result instanceof Error) throw result
  return result as StoreResult
}
