import type { MaybePromise } from '@sluice/core'
import {
  afterTurn,
  decisionWithoutPolicy,
  heapShare,
  inBackground,
  loopTimes,
  overloadEvents,
  warnOnce,
} from '@sluice/core/internal'
import { resuming } from '../path/http-limiter.ts'
import { isDecided, noteDecided } from '../path/respond.ts'
import {
  bodyTypeFor,
  problemBody,
  RateLimitError,
  type Refusal,
  writeRefusalFields,
} from '../refusal/refusal.ts'
import type { RequestAdapter } from '../request-adapter.ts'
import { Admission, type Entry, type Runtime } from './admission.ts'
import { compileOverload } from './compile-overload.ts'
import type { ShedLoadOptions } from './shed-load-options.ts'

/** Clients that were refused come back after 1 s and up to so long, which grows with the time of shedding, ms. */
const FIRST_SPREAD_MS = 2000
const MAX_SPREAD_MS = 29_000

const BODY = problemBody({ status: 503, banned: false, retryAfterMs: undefined }, undefined)
const NO_FIELDS = { waitFields: [] }

const runtime: Runtime = {
  now: () => performance.now(),
  afterTurn,
  inBackground,
  heapShare,
}

/**
 * Admits the requests that this process can serve, and refuses the others with 503, the least important first.
 * Knows no framework: an adapter reads requests and writes responses.
 */
export class LoadShedder<Request, Response> {
  readonly #compiled: ReturnType<typeof compileOverload<Request>>
  readonly #adapter: RequestAdapter<Request, Response>
  /** Which requests are in progress, and which wait. */
  readonly admission: Admission
  readonly #importance: ReadonlyMap<string, number>
  #loop = loopTimes()

  /** @throws SluiceError for wrong options */
  constructor(
    options: ShedLoadOptions<Request, string>,
    adapter: RequestAdapter<Request, Response>,
  ) {
    this.#compiled = compileOverload(options, adapter)
    this.#adapter = adapter
    const { classes } = this.#compiled
    this.#importance = new Map(classes.map(({ name }, i) => [name, i]))
    const facts = {
      isClients: ({ request, response }: Entry) =>
        adapter.isHeadSent(response as Response) ||
        adapter.isSending?.(request as Request) === true,
      kindOf: (entry: Entry) => this.#kindOf(entry),
      clientOf: ({ request }: Entry) => this.#compiled.keyOf(request as Request),
    }
    this.admission = new Admission({ ...this.#compiled, ...facts }, runtime, this.#report)
  }

  /**
   * Decides a request, and carries out the decision: synchronously unless the request waits. A request that it has
   * admitted before goes on. Throws the errors of functions of the options.
   *
   * @returns whether the request goes on to the application; false if it ends here
   */
  handle(request: Request, response: Response): MaybePromise<boolean> {
    if (this.#compiled.skip?.(request) === true || this.#adapter.isHeadSent(response)) return true
    const subject = this.#adapter.identity(request)
    if (isDecided(subject, this)) return true
    noteDecided(subject, this)
    const importance = this.#importanceOf(request)
    const entry = this.admission.enter(importance, request, response)
    if (entry === undefined) return this.#wait(importance, request, response)
    this.#follow(entry, response)
    return true
  }

  #importanceOf(request: Request): number {
    const { classes, classOf } = this.#compiled
    const last = classes.length - 1
    if (classOf === undefined) return last
    const name = classOf(request)
    const importance = this.#importance.get(name)
    if (importance !== undefined) return importance
    warnOnce(
      'SLUICE_CLASS_UNKNOWN',
      `classOf returned ${typeof name === 'string' ? `'${name.slice(0, 100)}'` : typeof name}, which is none of ` +
        `the classes. Such requests are in the last one, '${classes[last]?.name}'. Return the name of a class, not a promise.`,
    )
    return last
  }

  #wait(importance: number, request: Request, response: Response): MaybePromise<boolean> {
    const admission = this.admission
    const waiter = admission.wait(importance, this.#compiled.keyOf(request))
    if (waiter === undefined) {
      this.#refuse(request, response)
      return false
    }
    const waited = new Promise<boolean>((resolve) => {
      const unwatch = this.#adapter.whenClosed(response, () => {
        admission.leave(waiter)
        this.#adapter.abandon?.(response)
        resolve(false)
      })
      waiter.settle = (isAdmitted) => {
        unwatch()
        // Other middleware may have begun to answer while the request waited.
        const begins = isAdmitted && !this.#adapter.isHeadSent(response)
        if (begins) this.#follow(admission.resume(waiter, request, response), response)
        else this.#refuse(request, response)
        resolve(begins)
      }
    })
    const resume = this.#adapter.pauseBody?.(request, response)
    return resume === undefined ? waited : waited.then(resuming(resume))
  }

  /**
   * Frees the place of a request when the application has ended its response. A client that leaves frees nothing
   * while the application still works for it.
   */
  #follow(entry: Entry, response: Response): void {
    const adapter = this.#adapter
    const end = () => this.admission.end(entry)
    // Where the platform does not report every end, the application has made the response by then.
    if (adapter.progress !== undefined) adapter.beforeHead(response, end)
    else adapter.whenClosed(response, () => adapter.whenEnded(response, end))
  }

  /** Groups requests that take similar times: by their route, or else by their class. */
  #kindOf({ request, importance }: Entry): string {
    const route = this.#adapter.route?.(request as Request)
    if (route === undefined) return this.#compiled.classes[importance]?.name as string
    return typeof route === 'string' ? route : String(route)
  }

  #refuse(request: Request, response: Response): void {
    const adapter = this.#adapter
    if (adapter.isHeadSent(response)) return
    const refusal: Refusal = {
      status: 503,
      retryAfterMs: this.#retryAfterMs(),
      state: undefined,
      banned: false,
      key: '',
    }
    const headers: Record<string, string> = {}
    writeRefusalFields(refusal, NO_FIELDS, (name, value) => {
      headers[name] = value
      adapter.setField(response, name, value)
    })
    adapter.setStatus(response, 503)
    const toError = () =>
      new RateLimitError(refusal, decisionWithoutPolicy(false, Date.now(), 0), headers)
    adapter.send(response, BODY, bodyTypeFor(adapter.header(request, 'accept')), toError)
  }

  /** From 1 s on, spread over more time the longer requests have been shed. */
  #retryAfterMs(): number {
    const { sheddingSince = Infinity } = this.admission
    const sheddingMs = Math.max(0, runtime.now() - sheddingSince)
    return 1000 + Math.random() * Math.min(MAX_SPREAD_MS, FIRST_SPREAD_MS + sheddingMs)
  }

  readonly #report = () => {
    const admission = this.admission
    const loop = this.#loop
    const { signal } = admission
    const classes = admission.takeCounts()
    this.#loop = loopTimes()
    if (!overloadEvents.hasSubscribers) return
    const active = this.#loop.active - loop.active
    const elapsed = active + this.#loop.idle - loop.idle
    const shedding = admission.sheddingSince !== undefined
    overloadEvents.publish({
      limiter: this.#compiled.name,
      shedding,
      signal: shedding ? signal : undefined,
      limit: admission.limit,
      active: admission.active,
      waiting: admission.waiting,
      maxWaitMs: admission.waitMs,
      utilization: elapsed > 0 ? active / elapsed : 0,
      delayMs: admission.control.delays[0] ?? 0,
      heap: admission.control.heaps[0] ?? 0,
      classes,
    })
  }
}
