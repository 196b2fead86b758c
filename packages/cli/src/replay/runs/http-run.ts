import type { Charge, Decision, PolicyDecision } from '@sluice/core'
import type { PolicySettings } from '@sluice/core/operator'
import { type HttpLimiter, RoutedLimiter, type Verdict } from '@sluice/http/adapter'
import { messageOf } from '@sluice/terminal/say'
import type { Clients } from '../../log/clients.ts'
import type { LogEntry } from '../../log/log-entry.ts'
import type { Mask } from '../../log/mask.ts'
import type { Requests } from '../../log/requests.ts'
import type { ReplayOptions } from '../replay-options.ts'
import { Agenda } from '../statistics/agenda.ts'
import { InProgress } from '../statistics/in-progress.ts'
import type { PolicyFigures } from '../statistics/policy-figures.ts'
import { PolicyTally } from '../statistics/policy-tally.ts'
import { RunTally } from '../statistics/run-tally.ts'
import type { SharedWindow } from '../statistics/shared-window.ts'
import { logAdapter } from './log-adapter.ts'
import { NumberedStore } from './numbered-store.ts'
import { summaryOf } from './policy-summary.ts'
import { NOBODY, type Run } from './run.ts'

type LogHttpLimiter = HttpLimiter<LogEntry, never>

interface InUse {
  readonly httpLimiter: LogHttpLimiter
  readonly charges: readonly Charge[]
  readonly decision: Decision
}

export interface HttpRunSetup {
  readonly name: string
  readonly options: ReplayOptions
  readonly clients: Clients
  readonly mask: Mask
  /** A window that counts the requests of one more policy. */
  demandFor(windowMs: number): SharedWindow
}

/** Traffic through the limiters of the middleware, with all their options: needs whole entries. */
export class HttpRun implements Run {
  readonly tally: RunTally
  clients = new Int32Array()
  readonly #setup: HttpRunSetup
  readonly #httpLimiters: RoutedLimiter<LogEntry, never>
  /** The entry of `routes` that each limiter is for, but the one that holds everywhere. */
  readonly #routes: ReadonlyMap<LogHttpLimiter, string | undefined>
  /** The tallies of a limiter's policies, by the scope of their keys. */
  readonly #policies = new Map<string, readonly PolicyFigures[]>()
  /** The slots of requests are given back when these end. */
  readonly #ends = new Agenda<InUse>((endMs, { httpLimiter, charges, decision }) => {
    this.#nowMs = endMs
    const back = charges.map((charge) => ({
      ...charge,
      cost: charge.claim === undefined ? 0 : -1,
    }))
    void httpLimiter.limiter.settleCharges(back, decision)
  })
  #nowMs = 0

  /** @throws SluiceError for wrong options */
  constructor(setup: HttpRunSetup) {
    this.#setup = setup
    this.tally = new RunTally(setup.name)
    const store = new NumberedStore(
      () => this.#nowMs,
      (key) => setup.clients.number(key),
    )
    this.#httpLimiters = new RoutedLimiter({ ...setup.options, store }, logAdapter)
    const routes = Object.entries(setup.options.routes ?? {}).filter(([, given]) => given !== false)
    // Behind the one that holds everywhere, they come in the order of `routes`.
    const [, ...ofRoutes] = this.#httpLimiters.httpLimiters
    this.#routes = new Map(ofRoutes.map((each, i) => [each, routes[i]?.[0]]))
  }

  /**
   * Begins the run.
   *
   * @param policies the settings that replace the options. Default: none
   * @throws SluiceError if that is wrong
   */
  async begin(policies?: Readonly<Record<string, PolicySettings>>): Promise<void> {
    const { base, limiter } = this.#httpLimiters
    if (policies !== undefined) await limiter.policies.apply(policies)
    this.#policiesOf(base)
  }

  async play({ length, times, clients, entries }: Requests): Promise<void> {
    this.clients = new Int32Array(length)
    for (let i = 0; i < length; i += 1) {
      const entry = entries[i] as LogEntry
      const nowMs = times[i] as number
      this.#ends.runUntil(nowMs)
      this.#nowMs = nowMs
      entry.time = nowMs
      // A log does not show mounted routers: the entry that matches the path decides.
      const [httpLimiter] = this.#httpLimiters.of(entry)
      let verdict: Verdict | undefined
      try {
        const pending = httpLimiter?.decide(entry)
        verdict = pending instanceof Promise ? await pending : pending
      } catch (error) {
        throw this.#failureOf(error, entry)
      }
      this.clients[i] =
        httpLimiter === undefined || verdict === undefined || verdict.decision.source === 'allow'
          ? this.#pass()
          : this.#count(i, httpLimiter, verdict, clients[i] as number, entry.durationMs)
    }
  }

  #pass(): typeof NOBODY {
    this.tally.pass(this.#nowMs)
    return NOBODY
  }

  /**
   * Counts the decision for the client of the first policy.
   * @param place the request's place in its batch
   * @param logged its client in the log: for requests that no policy decided
   */
  #count(
    place: number,
    httpLimiter: LogHttpLimiter,
    verdict: Verdict,
    logged: number,
    durationMs: number,
  ): number {
    const { decision, charges } = verdict
    const numbers = charges.map(({ key }) => this.#setup.clients.number(key))
    const client = numbers[0] ?? logged
    if (decision.ban?.began) this.tally.ban(client)
    const holds = charges.some(({ claim }) => claim !== undefined)
    if (holds && decision.allowed)
      this.#ends.add(this.#nowMs + durationMs, { httpLimiter, charges, decision })
    const policies = charges.length === 0 ? [] : this.#policiesOf(httpLimiter)
    for (const [i, policy] of policies.entries()) {
      const { delayMs, resetMs, allowed, dryRun } = decision.policies[i] as PolicyDecision
      if (dryRun && !allowed) policy.wouldRefuse += 1
      policy.count({
        ...{ place, nowMs: this.#nowMs, client: numbers[i] as number, durationMs },
        ...{ cost: (charges[i] as Charge).cost, admitted: decision.allowed, delayMs, resetMs },
      })
    }
    this.tally.count(this.#nowMs, client, decision.allowed)
    return client
  }

  /** The error of a function of the file, or of core about its result; with the request. */
  #failureOf(error: unknown, entry: LogEntry): Error {
    const { clients, mask } = this.#setup
    const request = mask.message(`${entry.method} ${entry.url}`, entry)
    const client = mask.client(clients.key(entry.client), entry.client)
    return new Error(
      `a function of the configuration failed for ${request} of ${client} ` +
        `at ${new Date(entry.time).toISOString()}: ${mask.message(messageOf(error), entry)}`,
    )
  }

  #policiesOf(httpLimiter: LogHttpLimiter): readonly PolicyFigures[] {
    const known = this.#policies.get(httpLimiter.scope)
    if (known !== undefined) return known
    const route = this.#routes.get(httpLimiter)
    const policies = httpLimiter.limiter.compiledPolicies.map((policy) => {
      const { name, windowMs } = policy
      const summary = summaryOf(policy, route === undefined ? name : `${route}: ${name}`)
      return policy.holdsSlots
        ? new InProgress(summary)
        : new PolicyTally(summary, this.#setup.demandFor(windowMs))
    })
    this.#policies.set(httpLimiter.scope, policies)
    this.tally.policies.push(...policies)
    return policies
  }
}
