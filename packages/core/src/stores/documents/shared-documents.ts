import { afterAsking, inBackground, timersEndWithRequest } from '#platform'
import { SluiceError } from '../../errors/sluice-error.ts'
import { StoreError } from '../../errors/store-error.ts'
import { madeOnce } from '../../made-once.ts'
import { andThen, type MaybePromise } from '../../maybe-promise.ts'
import type { Documents, Store } from '../store.ts'
import { versionOf } from './document.ts'

/** How often a process asks a remote store for its documents at most, ms: with the answer, it knows a change within two seconds. */
const READ_EVERY_MS = 1900
/** When an answer that has not come is no longer waited for, ms. */
const LOST_MS = 10_000
/** How often a change is tried if other processes change the document too. */
const MAX_ATTEMPTS = 100

/** A text in place of another, and how long it is kept, ms. */
export interface NewText {
  readonly text: string
  readonly ttlMs: number
}

/**
 * The text in place of what the store has; undefined: it stays. It is called again if another process was faster.
 *
 * @param at ms on the store's clock
 */
export type Edit = (text: string, at: number) => NewText | undefined

/** A document that something in this process follows. */
class Followed {
  readonly name: string
  readonly learn: (text: string | undefined, at: number) => void
  readonly forget: () => void
  version = ''
  /** Whether the store was asked for it, if only in vain. */
  isAsked = false
  /** Counts the answers that were learned, so that a late one does not undo them. */
  learned = 0

  constructor(name: string, learn: Followed['learn'], forget: () => void) {
    this.name = name
    this.learn = learn
    this.forget = forget
  }
}

/**
 * The documents that all processes share under a prefix, as far as this process knows. One poll reads all in the
 * background while requests come. While the store fails, what was known last stays in force.
 */
export class SharedDocuments {
  /** When to call `refresh`, by `performance.now()`, once a request has come. */
  dueAt: number
  readonly #store: Store
  readonly #prefix: string
  readonly #documents: Documents | undefined
  readonly #followed: Followed[] = []
  /** Added to `performance.now()`, it is the store's clock, ms. */
  #aheadMs = 0
  /** Until when an answer is awaited, by `performance.now()`. */
  #awaitedUntil = 0
  /** The changes of this process come one after the other. */
  #changing: Promise<unknown> | undefined
  #cancelTimer = () => {}
  /** How many need it to be read while no request comes. */
  #awake = 0

  constructor(store: Store, prefix: string) {
    this.#store = store
    this.#prefix = prefix
    this.#documents = store.documents
    this.dueAt = store.mode === 'async' && this.#documents !== undefined ? 0 : Infinity
  }

  /** Now, ms on the store's clock. */
  now(): number {
    return this.#store.clock?.() ?? Math.round(performance.now() + this.#aheadMs)
  }

  /** Whether the store keeps documents. */
  get isSupported(): boolean {
    return this.#documents !== undefined
  }

  /**
   * Follows a document.
   *
   * @param learn called with its text each time that it has changed, and with undefined each time that it has not;
   *   `at` is when, ms on the store's clock
   * @param forget called before the text is learned anew, where it outlives that the store loses it
   */
  follow(name: string, learn: Followed['learn'], forget = () => {}): void {
    this.#followed.push(new Followed(name, learn, forget))
  }

  /**
   * Reads the documents also while no request comes, where the runtime has timers of its own. One that was never asked
   * for is read now.
   *
   * @returns ends that
   */
  stayAwake(): () => void {
    this.#awake += 1
    if (this.#followed.some(({ isAsked }) => !isAsked)) this.#askNow()
    if (this.#awake === 1) this.#setTimer()
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      this.#awake -= 1
      if (this.#awake === 0) this.#cancelTimer()
    }
  }

  /**
   * Lets requests, and a timer, call `refresh` where the store is not polled, because something ends by itself.
   *
   * @param end when, ms on the store's clock; `Infinity`: nothing does
   */
  wakeBy(end: number): void {
    if (this.#store.mode === 'async') return
    this.dueAt = end === Infinity ? Infinity : 0
    this.#setTimer()
  }

  /**
   * Asks the store in the background whether the documents have changed, at the moment when the decisions of this turn
   * are asked for: over HTTP that is one request. Call it when it is due.
   */
  refresh(): void {
    if (this.#store.mode === 'sync') {
      for (const each of this.#followed) each.isAsked = true
      this.#learnTime()
      return
    }
    const now = performance.now()
    this.dueAt = now + READ_EVERY_MS
    this.#setTimer()
    this.#learnTime()
    if (now < this.#awaitedUntil) return
    this.#awaitedUntil = now + LOST_MS
    afterAsking(() => void this.#askAll().finally(() => (this.#awaitedUntil = 0)))
  }

  /**
   * Changes a document: in this process at once, in the others when they ask again.
   *
   * @param operation the call that errors name
   * @param plan makes the edit, once the earlier changes of this process are over
   * @throws SluiceError if the store keeps no documents, and what `plan` and its edit throw
   */
  change(name: string, operation: string, plan: () => MaybePromise<Edit>): MaybePromise<void> {
    const documents = this.#supported()
    const make = (edit: Edit) => this.#attempt(documents, name, operation, edit, 1)
    if (this.#store.mode === 'sync') return andThen(plan(), make)
    const earlier = this.#changing ?? Promise.resolve()
    const done = earlier.then(async () => {
      const { inTime } = await import('./in-time.ts')
      const edit = await plan()
      return inTime(() => make(edit), {
        operation,
        problem: 'the store did not confirm it',
        advice: 'It may hold nevertheless: repeat it when the store is back.',
      })
    })
    this.#changing = done.catch(() => {})
    return done
  }

  /**
   * Reads the document from the store.
   *
   * @throws SluiceError if the store keeps no documents, and StoreError if it does not answer in time
   */
  read(name: string): MaybePromise<{ readonly text: string; readonly at: number }> {
    const documents = this.#supported()
    const read = () =>
      andThen(documents.read(this.#prefix, name, ''), ({ text = '', at }) => {
        this.#aheadMs = at - performance.now()
        return { text, at }
      })
    if (this.#store.mode === 'sync') return read()
    return import('./in-time.ts').then(({ inTime }) =>
      inTime(read, {
        operation: 'read',
        problem: `the store did not give its ${name}`,
        advice: 'Try again when the store is back.',
      }),
    )
  }

  /** Forgets the documents, and asks again. */
  forget(): void {
    if (this.dueAt === Infinity) return
    for (const each of this.#followed) {
      each.forget()
      this.#teach(each, '', 0)
    }
    this.dueAt = 0
  }

  #askNow(): void {
    this.#awaitedUntil = 0
    if (this.#store.mode === 'async') this.dueAt = 0
    if (!timersEndWithRequest || this.#store.mode === 'sync') this.refresh()
  }

  /** Called by the timer. */
  wake(): void {
    this.refresh()
    if (this.#store.mode === 'sync') this.#setTimer()
  }

  /** Sets the timer anew: what requests have asked is not asked again. */
  #setTimer(): void {
    this.#cancelTimer()
    if (this.#awake === 0 || this.dueAt === Infinity || timersEndWithRequest) return
    this.#cancelTimer = wakeLater(new WeakRef(this))
  }

  /** What ends by itself ends also while no answer comes. */
  #learnTime(): void {
    const at = this.now()
    for (const { isAsked, learn } of this.#followed) if (isAsked) learn(undefined, at)
  }

  /** Asks the store for all documents. */
  async #askAll(): Promise<void> {
    await Promise.all(this.#followed.map((each) => this.#ask(each)))
  }

  /** Asks the store, and learns its answer. A failure changes nothing. */
  async #ask(followed: Followed): Promise<void> {
    const { learned, name, version } = followed
    followed.isAsked = true
    try {
      const read = await this.#documents?.read(this.#prefix, name, version)
      if (read === undefined) return
      this.#aheadMs = read.at - performance.now()
      if (learned !== followed.learned) return
      if (read.text === undefined) followed.learn(undefined, read.at)
      else this.#teach(followed, read.text, read.at)
    } catch {
      // The documents that are known stay in force.
      followed.learn(undefined, this.now())
    }
  }

  #attempt(
    documents: Documents,
    name: string,
    operation: string,
    edit: Edit,
    attempts: number,
    written?: string,
  ): MaybePromise<void> {
    return andThen(documents.read(this.#prefix, name, ''), ({ text = '', at }) => {
      // A client that sends the same again after a lost reply is told that somebody has changed it: we have.
      if (text !== '' && text === written) return this.#teachAll(name, text, at)
      const changed = edit(text, at)
      if (changed === undefined) return this.#teachAll(name, text, at)
      const replaced = documents.replace(
        this.#prefix,
        name,
        versionOf(text),
        changed.text,
        changed.ttlMs,
      )
      return andThen(replaced, (isDone) => {
        if (isDone) return this.#teachAll(name, changed.text, at)
        if (attempts < MAX_ATTEMPTS)
          return this.#attempt(documents, name, operation, edit, attempts + 1, changed.text)
        throw new StoreError({
          code: 'SLUICE_STORE_CONTENTION',
          operation,
          problem: `others changed the ${name} during each of ${MAX_ATTEMPTS} attempts`,
          advice: 'Nothing was written. Try again.',
        })
      })
    })
  }

  #teachAll(name: string, text: string, at: number): void {
    this.#aheadMs = at - performance.now()
    for (const each of this.#followed) if (each.name === name) this.#teach(each, text, at)
  }

  /** @param at when the store had the text, ms on its clock */
  #teach(followed: Followed, text: string, at: number): void {
    followed.version = versionOf(text)
    followed.learned += 1
    followed.learn(text, at)
  }

  /** @throws SluiceError if the store keeps no documents */
  #supported(): Documents {
    if (this.#documents !== undefined) return this.#documents
    throw new SluiceError({
      code: 'SLUICE_OPTION_CONFLICT',
      option: 'store',
      expected: 'a store that keeps documents',
      said: 'a store without documents',
      fix: 'Choose another store, or add documents to this one.',
    })
  }
}

/** The timer of a store that nobody uses any more ends by itself. @returns cancels it */
function wakeLater(documents: WeakRef<SharedDocuments>): () => void {
  return inBackground(() => documents.deref()?.wake(), READ_EVERY_MS)
}

/** The documents that this process knows, by their prefixes. */
const known = new WeakMap<Store, Map<string, SharedDocuments>>()
/** The values of `known` for remote stores that are still in use, and perhaps for some that were. */
const all = new Set<WeakRef<SharedDocuments>>()

/** The documents under a prefix, which all limiters of this process share. */
export function sharedDocumentsOf(store: Store, prefix: string): SharedDocuments {
  const ofStore = madeOnce(known, store, () => new Map<string, SharedDocuments>())
  return madeOnce(ofStore, prefix, () => {
    const documents = new SharedDocuments(store, prefix)
    // A limiter that is made for each request has a memory store each time: nothing of that may stay.
    if (store.mode === 'async') all.add(new WeakRef(documents))
    return documents
  })
}

/** Forgets what this process knows of the documents in remote stores: for tests. */
export function forgetDocuments(): void {
  for (const each of all) {
    const documents = each.deref()
    if (documents === undefined) all.delete(each)
    else documents.forget()
  }
}
