import type { Charge, Outcome } from '@sluice/core/store'
import type { PlannedBan } from '../plan.ts'
import type { Run } from '../run.ts'

/** What a decision says about one policy. */
export type Said = Pick<Outcome, 'admitted' | 'remaining' | 'resetMs' | 'retryAfterMs'> &
  Partial<Pick<Outcome, 'counted'>> & { readonly own?: { readonly units: number } | undefined }

/** Where a limiter counts what it refuses. */
export interface BanSpace {
  readonly ban: PlannedBan
  /** Limiters with the same one count together. */
  readonly id: string
}

/** What happened to a key. Times are ms on the clock of the store or process that counts. */
type BanEntry = { readonly transaction: number; readonly now: number } & (
  | { readonly kind: 'refusal'; readonly ban: PlannedBan }
  | { readonly kind: 'block' | 'reset' | 'step' }
)

/** What a decision says about a ban: `retryAfterMs` is the time until it ends. */
type SaidOfBan = Omit<Said, 'resetMs' | 'own'>

/** A request that a ban may count. */
interface Counted {
  readonly space: BanSpace
  readonly charges: readonly Charge[]
  /** Whether it counts when it is refused: not one that is asked for again. */
  readonly isCounted: boolean
  readonly transaction: number
}

/** How a decision shows a ban. */
interface ShownBan {
  readonly began: boolean
  readonly endsMs: number
}

/** The refusals of one key, and the bans that they have led to, as docs/recipes.md describes them. */
export class BanAccount {
  /** False once a clock has stepped: nobody can tell how much is over of what was counted before. */
  isExact = true
  /** How often anything has changed here. */
  changed = 0
  /** When what was counted here was last lost, or ended by an operator, ms of the simulation. */
  endedAt = -Infinity
  #entries: BanEntry[] = []
  #refusals = 0
  /** When the window began in which these were counted. */
  #since = 0
  #bans = 0
  #bannedUntil = 0
  /** When the last refusal came, or the last ban ends. */
  #last = -Infinity

  /** Until when the key is banned; 0: it is not. */
  refusesUntil(now: number): number {
    return this.#bannedUntil > now ? this.#bannedUntil : 0
  }

  /** How many refusals lead to the next ban. */
  left({ after, within }: PlannedBan, now: number): number {
    const isOver = now - this.#since >= within || now - this.#last >= within
    return Math.max(0, isOver ? after : after - this.#refusals)
  }

  add(entry: BanEntry, time: number): void {
    this.changed += 1
    if (entry.kind !== 'refusal') this.endedAt = time
    this.#entries.push(entry)
    this.#apply(entry)
  }

  /** These transactions never happened. */
  undo(transactions: ReadonlySet<number>, time: number): void {
    const kept = this.#entries.filter(({ transaction }) => !transactions.has(transaction))
    if (kept.length === this.#entries.length) return
    this.lose(time)
    this.#entries = kept
    for (const entry of kept) this.#apply(entry)
  }

  /** The state is gone. */
  lose(time: number): void {
    this.changed += 1
    this.endedAt = time
    this.#entries = []
    this.#empty()
  }

  #empty(): void {
    this.#refusals = this.#since = this.#bans = this.#bannedUntil = 0
    this.#last = -Infinity
    this.isExact = true
  }

  #apply(entry: BanEntry): void {
    if (entry.kind === 'refusal') this.#count(entry.ban, entry.now)
    else if (entry.kind === 'step') this.isExact = false
    else this.#empty()
  }

  #count({ after, within, for: lengths }: PlannedBan, now: number): void {
    if (now - this.#last >= within) this.#bans = 0
    if (this.#refusals === 0 || now - this.#since >= within || now - this.#last >= within) {
      this.#refusals = 0
      this.#since = now
    }
    this.#refusals += 1
    this.#last = now
    if (this.#refusals < after) return
    this.#refusals = 0
    this.#bannedUntil = this.#last = now + (lengths[this.#bans] ?? (lengths.at(-1) as number))
    this.#bans += 1
  }
}

/** Recomputes what the bans of a counter count, and when they end: of the store, or of a process by itself. */
export class Bans {
  /** Where the store keeps those of each space: prefix and name, once a ledger is open. */
  readonly keyspaces = new Map<string, readonly [prefix: string, name: string]>()
  /** How the decision about charges must show a ban; undefined: not at all. */
  readonly shown = new WeakMap<Charge, ShownBan | undefined>()
  readonly #accounts = new Map<string, BanAccount>()
  readonly #run: Run

  constructor(run: Run) {
    this.#run = run
  }

  of({ id }: BanSpace, key: string): BanAccount {
    const name = `${id}\n${key}`
    const account = this.#accounts.get(name) ?? new BanAccount()
    this.#accounts.set(name, account)
    return account
  }

  /** An operator blocks the key, or resets it. */
  end(space: BanSpace, key: string, entry: Exclude<BanEntry, { kind: 'refusal' }>): void {
    this.of(space, key).add(entry, this.#run.timeline.now)
  }

  undone(transactions: ReadonlySet<number>): void {
    for (const account of this.#accounts.values())
      account.undo(transactions, this.#run.timeline.now)
  }

  /** @param nameIn the name that a server has for a key of a keyspace */
  lost(name: string, nameIn: (prefix: string, key: string, keyspace: string) => string): void {
    for (const [id, account] of this.#accounts) {
      const [space, key] = id.split('\n') as [string, string]
      const [prefix, keyspace] = this.keyspaces.get(space) ?? ['', '']
      if (name === nameIn(prefix, key, keyspace)) account.lose(this.#run.timeline.now)
    }
  }

  clockStepped(): void {
    const entry = { kind: 'step', transaction: 0, now: 0 } as const
    for (const account of this.#accounts.values()) account.add(entry, this.#run.timeline.now)
  }

  /**
   * Checks what was said of the ban of a request's first key, and counts the request if a policy of this key has
   * refused it.
   *
   * @param refuses whether each of its policies does, because of what it counts
   * @returns whether the ban refuses it, however its policies decide
   */
  decided(
    { space, charges, isCounted: counts, transaction }: Counted,
    refuses: readonly boolean[],
    said: SaidOfBan | undefined,
    now: number,
  ): boolean {
    const [{ key }] = charges as readonly [Charge]
    const account = this.of(space, key)
    const { ban } = space
    if (said === undefined) {
      this.#run.fail('ban', `no ban decides about ${key}`)
      return false
    }
    const isRefused = charges.some((charge, i) => charge.key === key && refuses[i])
    const isBanned = account.isExact ? account.refusesUntil(now) > 0 : !said.admitted
    const isCounted = isRefused && !isBanned && counts
    if (isCounted) account.add({ kind: 'refusal', transaction, now, ban }, this.#run.timeline.now)
    if (!account.isExact) {
      if (!said.admitted && said.retryAfterMs > Math.max(...ban.for))
        this.#run.fail('ban', `${key} is banned for ${said.retryAfterMs} ms`)
      return isBanned
    }
    const until = account.refusesUntil(now)
    this.shown.set(
      charges[0] as Charge,
      until === 0 ? undefined : { began: isCounted, endsMs: until - now },
    )
    this.#check(space, key, isCounted, said, now)
    return isBanned
  }

  /** A look shows the ban of a key as it is. */
  checkPeek(space: BanSpace, key: string, said: SaidOfBan | undefined, now: number): void {
    if (said !== undefined && this.of(space, key).isExact) this.#check(space, key, false, said, now)
  }

  /** @param isCounted whether the request has counted as a refusal */
  #check(space: BanSpace, key: string, isCounted: boolean, said: SaidOfBan, now: number): void {
    const account = this.of(space, key)
    const until = account.refusesUntil(now)
    const expected = describe({
      admitted: until === 0,
      retryAfterMs: until === 0 ? 0 : until - now,
      remaining: until === 0 ? account.left(space.ban, now) : 0,
      counted: isCounted,
    })
    if (describe(said) !== expected)
      this.#run.fail('ban', `${key}: ${describe(said)}, not ${expected}`)
  }

  /** A decision shows the ban that refuses it, and no other. */
  checkShown(charges: readonly Charge[], shown: ShownBan | undefined): void {
    if (!this.shown.has(charges[0] as Charge)) return
    const expected = text(this.shown.get(charges[0] as Charge))
    if (text(shown) !== expected) this.#run.fail('ban', `${text(shown)} is shown, not ${expected}`)
  }

  /**
   * What a process has decided by itself.
   * @param isRefused whether a policy of the first key refuses, or seems to behind its ban
   */
  decidedAlone(
    space: BanSpace,
    key: string,
    isRefused: boolean,
    shown: ShownBan | undefined,
    now: number,
  ): void {
    const account = this.of(space, key)
    if (!account.isExact) return
    const isBanned = account.refusesUntil(now) > 0
    if (isRefused && !isBanned)
      account.add({ kind: 'refusal', transaction: 0, now, ban: space.ban }, this.#run.timeline.now)
    const until = account.refusesUntil(now)
    const expected = text(until === 0 ? undefined : { began: !isBanned, endsMs: until - now })
    if (text(shown) !== expected)
      this.#run.fail('ban', `alone, ${text(shown)} is shown for ${key}, not ${expected}`)
  }

  /**
   * A remembered ban says when the ban ends: not too early, and too late by no more than a call took.
   * @param since when somebody else may have changed what is remembered, ms of the simulation
   */
  checkRemembered(
    space: BanSpace,
    key: string,
    shown: ShownBan | undefined,
    { now, since, callMs }: { now: number; since: number; callMs: number },
  ): void {
    const account = this.of(space, key)
    if (!account.isExact || account.endedAt >= since || shown === undefined) return
    const leftMs = account.refusesUntil(now) - now
    if (shown.began || shown.endsMs < leftMs - 1 || shown.endsMs > leftMs + callMs)
      this.#run.fail('ban', `${text(shown)} is remembered of ${key}, it has ${leftMs} ms`)
  }
}

function describe({ admitted, retryAfterMs, remaining, counted }: SaidOfBan): string {
  const state = `${admitted ? 'free' : 'banned'}, ${remaining} refusals left, wait ${retryAfterMs} ms`
  return counted ? `${state}, counted` : state
}

function text(shown: ShownBan | undefined): string {
  if (shown === undefined) return 'no ban'
  return `a ban that ${shown.began ? 'begins and ' : ''}ends in ${shown.endsMs} ms`
}
