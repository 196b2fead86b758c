import { batch, signal } from '@preact/signals-core'
import { type Algorithm, algorithms } from '../../limits.ts'
import { models } from '../algorithms/models.ts'
import type { Pattern } from '../patterns/index.ts'
import { type Answer, type Asked, readAnswer } from './answer.ts'
import { askForTime, drawNow, serverNow } from './clock.ts'
import { HISTORY_MS, Lane } from './lane.ts'
import type { Send } from './send.ts'

/** The parts of its lane that a request needs. */
type Endpoint = Pick<Lane<unknown>, 'algorithm' | 'sent' | 'received'>

/** Answers that the list shows. */
const LISTED = 60

/** The requests and answers of this tab. Each tab is a client of its own. */
export class Session {
  readonly lanes = Object.fromEntries(
    algorithms.map((algorithm) => [algorithm, new Lane(algorithm, models[algorithm])]),
  ) as { readonly [name in Algorithm]: Lane<unknown> }

  /** When the last requests were sent: ms on the server's clock. */
  readonly sent = signal<readonly number[]>([])
  /** When the running pattern sends its next ones. */
  readonly planned = signal<readonly number[]>([])
  readonly pattern = signal<Pattern | undefined>(undefined)
  /** Requests of this client. */
  readonly count = signal(0)
  /** The last answers, newest first. */
  readonly listed = signal<readonly Answer[]>([])
  /** The server can't be reached. */
  readonly lost = signal(false)

  readonly #fetch: Send
  #client = newId()
  #leaving = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined

  /** @param fetch sends to the limiters */
  constructor(fetch: Send) {
    this.#fetch = fetch
  }

  /** One request to each endpoint. */
  send(): void {
    const sentAt = serverNow()
    batch(() => {
      this.count.value += 1
      this.sent.value = [...this.sent.value.filter((at) => at > sentAt - HISTORY_MS), sentAt]
      for (const lane of Object.values(this.lanes)) void this.#request(lane, sentAt)
      drawNow()
    })
  }

  /** Sends by a pattern, as a new client, whose quotas are whole. */
  async play(pattern: Pattern): Promise<void> {
    this.startAfresh()
    this.pattern.value = pattern
    const leaving = this.#leaving
    // A pattern is timed by the server's clock, so read that clock once more.
    await this.#reach(askForTime(this.#fetch))
    if (leaving.signal.aborted || this.lost.value) return
    this.planned.value = pattern.plan(serverNow())
    this.#sendPlanned()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.pattern.value = undefined
    this.planned.value = []
  }

  /** Becomes a new client. It does not wait for answers to the old one. */
  startAfresh(): void {
    this.stop()
    this.#leaving.abort()
    this.#leaving = new AbortController()
    this.#client = newId()
    batch(() => {
      for (const lane of Object.values(this.lanes)) lane.clear()
      this.sent.value = []
      this.listed.value = []
      this.count.value = 0
      this.lost.value = false
    })
  }

  #sendPlanned(): void {
    const [next] = this.planned.value
    if (next === undefined) {
      this.stop()
      return
    }
    this.#timer = setTimeout(
      () => {
        this.send()
        this.planned.value = this.planned.value.slice(1)
        this.#sendPlanned()
      },
      Math.max(0, next - serverNow()),
    )
  }

  async #request(lane: Endpoint, sentAt: number): Promise<void> {
    const { signal } = this.#leaving
    const request = { algorithm: lane.algorithm, number: this.count.value, sentAt }
    lane.sent(sentAt)
    const answer = await this.#reach(this.#ask(request, signal))
    if (answer === undefined || signal.aborted) return
    batch(() => {
      lane.received(answer)
      this.listed.value = [answer, ...this.listed.value].slice(0, LISTED)
      drawNow()
    })
  }

  async #ask(request: Asked, signal: AbortSignal): Promise<Answer> {
    const response = await this.#fetch(`/try/${request.algorithm}`, {
      headers: { 'Demo-Client': this.#client },
      signal,
    })
    const answer = readAnswer(request, response, serverNow())
    // A body that is not read would keep its connection busy.
    void response.arrayBuffer().catch(() => {})
    return answer
  }

  /** Undefined, and `lost` set, if the server doesn't answer, or not as a limiter does. */
  async #reach<T>(answer: Promise<T>): Promise<T | undefined> {
    const leaving = this.#leaving
    try {
      return await answer
    } catch {
      if (leaving.signal.aborted) return undefined
      this.stop()
      this.lost.value = true
      return undefined
    }
  }
}

/** Works without a secure context too, where a page from another machine has no crypto.randomUUID. */
function newId(): string {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((word) => word.toString(36)).join('')
}
