import { timersEndWithRequest } from '#platform'
import type { KeptKeyspaces, LedgerKeyspaces } from '../inspection/kept-keyspaces.ts'
import type {
  Change,
  Charge,
  GrantResult,
  Keyspace,
  Ledger,
  OnIncrease,
  Requests,
  SettleChange,
  StoreResult,
} from '../store.ts'
import { type RedisConnection, Script } from './connection.ts'
import { PROBE } from './correct.lua.ts'
import { KeyNames } from './keys.ts'
import type { LedgerScripts } from './ledger-scripts.ts'
import { readIncreases, readReply } from './reply.ts'

const probe = new Script(PROBE)

/**
 * A call is one run of a script; a probe is two, and a renewal one for each policy. In a cluster the keys of a run
 * must be those of one id.
 */
export class RedisLedger implements Ledger<'async'> {
  readonly #connection: RedisConnection
  readonly #names: KeyNames
  readonly #scripts: LedgerScripts
  readonly #keyspaces: LedgerKeyspaces

  constructor(
    connection: RedisConnection,
    keyspaces: readonly Keyspace[],
    prefix: string,
    kept: KeptKeyspaces,
    scripts: LedgerScripts,
  ) {
    this.#connection = connection
    this.#scripts = scripts
    this.#keyspaces = kept.of(keyspaces, prefix)
    this.#names = new KeyNames(keyspaces, prefix, this.#keyspaces)
  }

  decide(requests: Requests, isPeek = false): Promise<readonly (StoreResult | Error)[]> {
    const connection = this.#connection
    const time = connection.time()
    const call = isPeek ? this.#scripts.peek(requests, time) : this.#scripts.decide(requests, time)
    // Work that a request leaves behind may end with it, and over HTTP it shares the call.
    if ((timersEndWithRequest || connection.isRest) && !isPeek) this.#keyspaces.keep()
    return connection.runForNumbers(call, this.#names.ofRequests(requests), (reply) => {
      if (!isPeek) this.#keyspaces.keep()
      return readReply(reply, requests, isPeek)
    })
  }

  async change(change: Change, onIncrease?: OnIncrease): Promise<GrantResult | undefined> {
    if (change.kind === 'settle' && change.isProbe) await this.#probe(change)
    if (change.kind === 'settle' && onIncrease) return this.#settleAndShow(change, onIncrease)
    const read = 'limit' in change ? toGrantResult : done
    const runs = this.#scripts.change(change, this.#connection.time())
    const replies = runs.map(({ call, owns, states }) => {
      const names = [
        ...owns.map(({ policy, key }) => this.#names.own(policy, key) as string),
        ...states.map(({ policy, key }) => this.#names.state(policy, key)),
      ]
      return this.#connection.run(call, names, read)
    })
    const result = replies.length === 1 ? await replies[0] : await Promise.all(replies)
    if ('key' in change) await this.#changeOthers(change)
    this.#keyspaces.keep()
    return change.kind === 'grant' ? (result as GrantResult) : undefined
  }

  /** Lets other versions of the application see the change. */
  async #changeOthers(change: Extract<Change, { key: string }>): Promise<void> {
    const names = await this.#keyspaces.others(change)
    if (names.length === 0) return
    await this.#connection.run(
      this.#scripts.changeOthers(change, this.#connection.time()),
      names,
      done,
    )
  }

  async #settleAndShow(
    { charges, chargedAt = -1 }: SettleChange,
    onIncrease: OnIncrease,
  ): Promise<undefined> {
    const call = this.#scripts.settle(charges, this.#connection.time(), chargedAt, true)
    const read = (reply: unknown) => readIncreases(reply, charges, chargedAt)
    const names = this.#names.ofRequests([charges])
    const increases = await this.#connection.runForNumbers(call, names, read)
    for (const increase of increases) onIncrease(increase)
  }

  async #probe({ charges }: SettleChange): Promise<void> {
    // A key of its own that is where those of the charges are.
    const key = this.#names.probe((charges[0] as Charge).key)
    const { minTtlMs } = this.#connection.time()
    const args = [`${minTtlMs}`, this.#scripts.renews ? '1' : '0']
    await this.#connection.run({ script: probe, args }, [key], done)
  }
}

/** The results of the scripts of limits and top-ups, by number. */
const GRANT_RESULTS: readonly GrantResult[] = ['granted', 'known', 'too many', 'too much', 'ended']

function toGrantResult(reply: unknown): GrantResult {
  const result = GRANT_RESULTS[Number(reply)]
  if (result === undefined) throw new TypeError('the reply is not that of the script')
  return result
}

/** Scripts that change states reply with nothing: a server that replies with something else is not the store. */
function done(reply: unknown): undefined {
  if (reply !== null) throw new TypeError('the reply is not that of the script')
}
