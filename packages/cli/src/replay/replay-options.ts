import type { RateLimitOptions, Routes } from '@sluice/http'
import type { LogEntry } from '../log/log-entry.ts'

/** The export of a configuration file: the options of the middleware. */
export type ReplayOptions = RateLimitOptions<LogEntry, never> & {
  routes?: Routes<LogEntry, never>
}

/** A process that lives renews its slots: in a replay they are held for as long as possible. */
export const LONGEST_HOLD = '1h'

/**
 * The options as a replay needs them: it only decides. A leaky bucket delays no request (`dryRun`)
 * but reports how long it would; `onDecision` is not called; nothing is settled,
 * because a log has no response to settle by.
 */
export function prepare({ routes, ...options }: ReplayOptions): ReplayOptions {
  if (routes === undefined) return quiet(options as ReplayOptions)
  const quieted = Object.entries(routes).map(([route, overrides]) => {
    return [route, typeof overrides === 'object' ? quiet(overrides) : overrides]
  })
  return { ...quiet(options as ReplayOptions), routes: Object.fromEntries(quieted) }
}

function quiet<T extends { readonly policies?: unknown }>(options: T): T {
  const { policies } = options
  return {
    ...options,
    ...(Array.isArray(policies) && { policies: policies.map(alone) }),
    ...held(options),
    settle: undefined,
    reserve: undefined,
    dryRun: true,
    headers: false,
    onDecision: undefined,
  }
}

function alone<T>(policy: T): T {
  return typeof policy === 'object'
    ? { ...policy, settle: undefined, reserve: undefined, ...held(policy) }
    : policy
}

/** Reservations stay charged, as all estimates do: no process dies in a log. */
function held(options: unknown): { readonly hold: typeof LONGEST_HOLD | undefined } {
  return { hold: isConcurrent(options) ? LONGEST_HOLD : undefined }
}

function isConcurrent(options: unknown): boolean {
  return (options as { concurrent?: unknown } | null)?.concurrent !== undefined
}

/** Whether a policy counts requests in progress. */
export function hasConcurrent(options: ReplayOptions): boolean {
  return places(options).some(isConcurrent)
}

/** The options, those of routes, and the entries of their policies. */
function places({ routes, ...options }: ReplayOptions): unknown[] {
  const all = [options, ...Object.values(routes ?? {})] as { policies?: unknown }[]
  return all.flatMap((each) => [each, ...(Array.isArray(each.policies) ? each.policies : [])])
}

/** The options that would change decisions, but that a replay can't apply. */
export function unheeded(options: ReplayOptions): string[] {
  return places(options).some(isSettled)
    ? [
        'settle is not called: a log has no response to settle by, so costs stay as they were estimated',
      ]
    : []
}

function isSettled(options: unknown): boolean {
  return (options as { settle?: unknown } | null)?.settle !== undefined
}
