import { DOCUMENT_KEY } from './documents.ts'
import { ErrorReply, type Keys, type RedisValue } from './redis/commands.ts'
import { SOCKETS, type Timeline } from './timeline.ts'

/** What a client sends: a script, which reads and writes some keys. */
export interface Script {
  readonly keys: readonly string[]
  /** @returns what the client is answered; an `ErrorReply`: with this error */
  run(server: Server): unknown
}

/** What a key holds: the state of a transaction, or a value of Redis. It is replaced, and never changed. */
type Value = Uint8Array | RedisValue

const TRY_AGAIN = 'TRYAGAIN Multiple keys request during rehashing of slot'

type Reply = (error: Error | undefined, value?: unknown) => void

interface Kept {
  readonly value: Value
  readonly expiresAt: number
}

/** What a write has replaced, to take it back. */
interface Written {
  readonly at: number
  readonly transaction: number
  readonly key: string
  readonly before: Kept | undefined
}

/** Who must know of what the server loses. */
export interface Witness {
  /** These transactions never happened. */
  undone(transactions: ReadonlySet<number>): void
  /** The state of a key is gone. */
  lost(key: string): void
  clockStepped(): void
  /** The document with the settings of live policies has changed. */
  wrote?(): void
}

/** What the servers of a store have in common. */
interface Shared {
  /** Who must know of what they lose. */
  readonly witnesses: readonly Witness[]
  /** The number of the script that runs, or ran last. */
  transaction: number
  /** The one that has a key. */
  serverOf(key: string): Server
}

/** A Redis: one after the other it runs scripts on keys that expire, by its own clock. */
export class Server implements Keys {
  isUp = true
  /** The scripts that it has received, by their digests. */
  readonly scripts = new Map<string, string>()
  /** Why scripts are refused before they run: the text of the error. */
  refusal: string | undefined = undefined
  /** What each script takes longer, ms. */
  slowMs = 0
  /** Keys of which some are on their way to another server: scripts with several of them fail. */
  migrates: ((key: string) => boolean) | undefined = undefined
  readonly #shared: Shared
  readonly #timeline: Timeline
  readonly #kept = new Map<string, Kept>()
  #written: Written[] = []
  #skewMs = 0
  #frozenUntil = 0
  #busyUntil = 0
  /** Scripts that are answered when it is back. */
  readonly #waiting: (() => void)[] = []

  readonly #epoch: number

  /** @param epoch its clock when the simulation begins, ms */
  constructor(timeline: Timeline, epoch: number, shared: Shared) {
    this.#timeline = timeline
    this.#epoch = epoch
    this.#shared = shared
  }

  /** Its clock: integer ms since the epoch. */
  now(): number {
    return Math.floor(this.#epoch + this.#timeline.now + this.#skewMs)
  }

  /** How many keys are about clients. */
  get size(): number {
    for (const [key, { expiresAt }] of this.#kept)
      if (expiresAt <= this.now()) this.#kept.delete(key)
    return [...this.#kept.keys()].filter((key) => !key.includes('{#}')).length
  }

  read(key: string): RedisValue | undefined {
    return this.valueOf(key) as RedisValue | undefined
  }

  expiryOf(key: string): number {
    return this.valueOf(key) === undefined ? Infinity : (this.#kept.get(key) as Kept).expiresAt
  }

  /** What a key holds that has not expired. */
  valueOf(key: string): Value | undefined {
    const kept = this.#kept.get(key)
    return kept === undefined || kept.expiresAt <= this.now() ? undefined : kept.value
  }

  /** The keys between two others, in their order. */
  keysBetween(after: string, before: string): string[] {
    const keys = [...this.#kept.keys()].filter((key) => key > after && key < before)
    return keys.filter((key) => this.valueOf(key) !== undefined).sort()
  }

  write(key: string, value: Value | undefined, expiresAt: number): void {
    const before = this.#kept.get(key)
    const { transaction } = this.#shared
    this.#written.push({ at: this.#timeline.now, transaction, key, before })
    if (value === undefined) this.#kept.delete(key)
    else this.#kept.set(key, { value, expiresAt })
    if (key === DOCUMENT_KEY) for (const each of this.#shared.witnesses) each.wrote?.()
  }

  /**
   * Runs a script in its turn.
   * @param redirect called instead if another server has its keys by then
   */
  receive(script: Script, reply: Reply, redirect: () => void): void {
    this.#busyUntil = Math.max(this.#busyUntil, this.#timeline.now + this.slowMs, this.#frozenUntil)
    this.#timeline.at(this.#busyUntil, SOCKETS, () => {
      if (this.#shared.serverOf(script.keys[0] as string) === this) this.#execute(script, reply)
      else if (this.isUp) redirect()
    })
  }

  /** Calls back now, or when it accepts connections again. */
  whenUp(act: () => void): void {
    if (this.isUp) act()
    else this.#waiting.push(act)
  }

  freeze(ms: number): void {
    this.#frozenUntil = Math.max(this.#frozenUntil, this.#timeline.now + ms)
  }

  /** Its connections end, and nobody can connect. */
  stop(): void {
    this.isUp = false
  }

  /** @param lostMs the writes of the last so many ms are lost. Infinity: all data */
  start(lostMs: number): void {
    this.lose(lostMs)
    this.scripts.clear()
    this.isUp = true
    this.#frozenUntil = this.#busyUntil = 0
    for (const act of this.#waiting.splice(0)) act()
  }

  step(ms: number): void {
    this.#skewMs += ms
    for (const each of this.#shared.witnesses) each.clockStepped()
  }

  /** @param draw a number in [0, 1) */
  evict(draw: () => number): void {
    const isBeside = (key: string) => key.endsWith(HELD) || key === DOCUMENT_KEY + VERSION
    const known = [...this.#kept.keys()].filter((key) => !isBeside(key))
    const key = known[Math.floor(draw() * known.length)]
    if (key === undefined) return
    const all = [key, key + HELD, key + VERSION]
    for (const each of all) this.#kept.delete(each)
    this.#written = this.#written.filter((each) => !all.includes(each.key))
    for (const each of this.#shared.witnesses) each.lost(key)
  }

  /** @param lostMs the writes of the last so many ms are lost. Infinity: all data */
  lose(lostMs: number): void {
    if (lostMs === Infinity) {
      for (const key of this.#kept.keys()) for (const each of this.#shared.witnesses) each.lost(key)
      this.#kept.clear()
      this.#written = []
      return
    }
    const from = this.#timeline.now - lostMs
    const undone = new Set<number>()
    while (this.#written.length > 0 && (this.#written.at(-1) as Written).at > from) {
      const { key, before, transaction } = this.#written.pop() as Written
      undone.add(transaction)
      if (before === undefined) this.#kept.delete(key)
      else this.#kept.set(key, before)
    }
    for (const each of this.#shared.witnesses) each.undone(undone)
  }

  /** Hands keys over to another server. */
  moveTo(other: Server, isMoved: (key: string) => boolean): void {
    this.#written = this.#written.filter(({ key }) => !isMoved(key))
    const aheadMs = other.#skewMs - this.#skewMs
    for (const [key, { value, expiresAt }] of this.#kept) {
      if (!isMoved(key)) continue
      other.#kept.set(key, { value, expiresAt: expiresAt + aheadMs })
      this.#kept.delete(key)
    }
    if (aheadMs !== 0) for (const each of this.#shared.witnesses) each.clockStepped()
  }

  #execute(script: Script, reply: Reply): void {
    // What it had read when it ended is gone with it.
    if (!this.isUp) return
    const moving = script.keys.length > 1 && this.migrates?.(script.keys[0] as string)
    const refusal = this.refusal ?? (moving ? TRY_AGAIN : undefined)
    if (refusal !== undefined) {
      reply(new Error(refusal))
      return
    }
    this.#shared.transaction += 1
    const answer = script.run(this)
    if (answer instanceof ErrorReply) reply(answer)
    else reply(undefined, answer)
  }
}

/** What follows the name of a key in that of what it holds, in Redis: both are evicted together. */
const HELD = '\theld'
/** What follows the key of a document in that of its version: no store evicts one of them alone. */
const VERSION = '-version'
