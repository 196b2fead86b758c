import { type Item, parseDictionary, parseList } from 'structured-headers'

/** The families of header fields that can be read. */
export const DIALECTS = [
  'retry-after',
  'ratelimit',
  'openai',
  'anthropic',
  'github',
  'stripe',
] as const
export type Dialect = (typeof DIALECTS)[number]

/** The rest of one quota by a server's answer. */
export interface Quota {
  /** Tells it apart from the other quotas of the same server. */
  readonly id: string
  readonly unit: string
  /** Units of the full quota, if the server says so. */
  readonly limit: number | undefined
  /** Units, never more than the limit. */
  readonly remaining: number
  /** The time until the quota is full again, ms, 0 … MAX_WAIT_MS; undefined if the server does not say. */
  readonly resetMs: number | undefined
  /** Whether units come back one by one until then, not all at the end. */
  readonly refills: boolean
}

/** The limits in a server's answer. */
export interface Answer {
  readonly quotas: readonly Quota[]
  /** Whether the server has refused the request because of a limit. */
  readonly isRefusal: boolean
  /** How long the server wants no request, ms, 1 … MAX_WAIT_MS; undefined if it does not say. */
  readonly waitMs: number | undefined
  /** Whether it says that no later attempt will help. */
  readonly isFinal: boolean
}

/** A quota as its fields give it: it may say nothing of what is left, or more than the limit. */
type Stated = Omit<Quota, 'remaining'> & { readonly remaining: number | undefined }

const ANTHROPIC_UNITS = ['requests', 'tokens', 'input-tokens', 'output-tokens']
/** The longest wait that is believed, ms: a day. After that, a request asks again. */
export const MAX_WAIT_MS = 86_400_000
/** Quotas that are read of an answer: more than a server has. */
const MAX_QUOTAS = 32
/** The longest field that is parsed. Characters. */
const MAX_TEXT = 4096
/** Numbers from here on are a time since the epoch, s or ms: as a duration they would be 31 years. */
const EPOCH_SECONDS = 1e9
const EPOCH_MS = 1e12

/**
 * Reads what an answer says about limits. Fields that are malformed, or say what can't be, are ignored; of two
 * waits that contradict each other, the longer one counts.
 *
 * @param now ms since the epoch; used where the answer has no `Date`
 */
export function readAnswer(
  status: number,
  headers: Headers,
  obey: ReadonlySet<Dialect>,
  now: number,
): Answer {
  // Times are compared with the server's own clock, which may differ from this one.
  const date = parseDate(headers.get('date'))
  const quotas = quotasOf(headers, obey, date ?? now).slice(0, MAX_QUOTAS)
  const stated = obey.has('retry-after') ? statedWait(headers, date ?? now) : undefined
  const isForbidden =
    status === 403 && obey.has('github') && (stated !== undefined || quotas.some(isUsedUp))
  const isUnavailable = (status === 503 || status === 529) && stated !== undefined
  const isRefusal = status === 429 || isForbidden || isUnavailable
  return {
    quotas,
    isRefusal,
    waitMs: isRefusal ? (stated ?? waitOf(quotas)) : undefined,
    isFinal:
      headers.get('x-should-retry') === 'false' ||
      (obey.has('stripe') && headers.get('stripe-should-retry') === 'false'),
  }
}

function isUsedUp({ remaining }: Quota): boolean {
  return remaining === 0
}

/** How long until each quota that is used up has a unit again, ms. */
function waitOf(quotas: readonly Quota[]): number | undefined {
  const waits = quotas.filter(isUsedUp).map(({ resetMs = 0, refills, limit = 1 }) => {
    return Math.ceil(refills ? resetMs / Math.max(1, limit) : resetMs)
  })
  return Math.max(0, ...waits) || undefined
}

function statedWait(headers: Headers, now: number): number | undefined {
  const coarse = longestOf(headers.get('retry-after'), (text) => {
    const seconds = parseNumber(text)
    return seconds === undefined ? (parseDate(text) ?? NaN) - now : seconds * 1000
  })
  const fine = longestOf(headers.get('retry-after-ms'), parseNumber)
  if (coarse === undefined || fine === undefined) return coarse ?? fine
  // The one is mostly the other, in whole seconds.
  return coarse - fine < 1000 ? fine : coarse
}

/**
 * The longest wait of a field, which may have been sent several times: a proxy adds its own. The commas of dates
 * separate nothing.
 *
 * @param read ms, of one value
 */
function longestOf(
  field: string | null,
  read: (text: string) => number | undefined,
): number | undefined {
  if (field === null || field.length > MAX_TEXT) return undefined
  const values = field.match(/[A-Z][a-z]{2,8},? [^,]+|[^,\s][^,]*/g) ?? []
  const waits = values.flatMap((value) => believed(read(value.trim())) ?? [])
  return waits.length === 0 ? undefined : Math.max(...waits)
}

function quotasOf(headers: Headers, obey: ReadonlySet<Dialect>, now: number): Quota[] {
  const read = (id: string, unit: string, names: string, refills: boolean): Stated => {
    const [most, remaining, reset] = ['limit', 'remaining', 'reset'].map(
      (part) => headers.get(names.replace('*', part))?.trim() ?? '',
    ) as [string, string, string]
    // Draft 3 lists the policies behind the limit.
    const limit = integer(parseNumber(most.split(/[,;]/)[0] as string))
    const left = integer(parseNumber(remaining))
    return { id, unit, limit, remaining: left, resetMs: resetOf(reset, now), refills }
  }
  const ofUnits = (dialect: string, names: string, units: readonly string[]) =>
    units.map((unit) => read(`${dialect}-${unit}`, unit, names.replace('$', unit), true))
  const plain = () => [read('x-ratelimit', 'requests', 'x-ratelimit-*', false)]
  const readers: Record<Dialect, () => Stated[]> = {
    'retry-after': () => [],
    stripe: () => [],
    ratelimit: () => [
      ...structured(headers),
      read('draft-6', 'requests', 'ratelimit-*', false),
      ...plain(),
    ],
    github: () => (obey.has('ratelimit') ? [] : plain()),
    openai: () => ofUnits('openai', 'x-ratelimit-*-$', ['requests', 'tokens']),
    anthropic: () => ofUnits('anthropic', 'anthropic-ratelimit-$-*', ANTHROPIC_UNITS),
  }
  return [...obey]
    .flatMap((each) => readers[each]())
    .flatMap(({ remaining, ...quota }) => {
      if (remaining === undefined) return []
      return { ...quota, remaining: Math.min(remaining, quota.limit ?? remaining) }
    })
}

/** The fields `RateLimit` and `RateLimit-Policy`: a list since draft 8, a dictionary in draft 7. */
function structured(headers: Headers): Stated[] {
  const text = headers.get('ratelimit')
  if (text === null || text.length > MAX_TEXT) return []
  const dictionary = parsed(() => parseDictionary(text))
  if (dictionary?.has('limit')) {
    const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
      integer(dictionary.get(name)?.[0]),
    )
    const resetMs = capped((reset ?? NaN) * 1000)
    return [{ id: 'draft-7', unit: 'requests', limit, remaining, resetMs, refills: false }]
  }
  const policies = new Map(itemsOf(headers.get('ratelimit-policy') ?? ''))
  return itemsOf(text).flatMap(([name, params]) => {
    const policy = policies.get(name)
    const unit = policy?.get('qu') ?? 'requests'
    // Requests in progress are no quota: the answer itself ends their use.
    if (typeof unit !== 'string' || unit === 'concurrent-requests') return []
    const seconds = integer(params.get('t')) ?? integer(policy?.get('w')) ?? NaN
    const [limit, remaining] = [integer(policy?.get('q')), integer(params.get('r'))]
    return {
      id: `${name}`,
      unit,
      limit,
      remaining,
      resetMs: capped(seconds * 1000),
      refills: false,
    }
  })
}

function itemsOf(text: string): Item[] {
  const list = text.length > MAX_TEXT ? undefined : parsed(() => parseList(text))
  return (list ?? []).filter((each): each is Item => !Array.isArray(each[0]))
}

function parsed<T>(parse: () => T): T | undefined {
  try {
    return parse()
  } catch {
    return undefined
  }
}

/** @returns the value, if it is an integer from 0 on */
function integer(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined
}

/** Digits, perhaps with a point and more digits. Infinity: there are hundreds of them. */
function parseNumber(text: string): number | undefined {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined
}

/** A number of seconds, a time since the epoch, a date, or a duration as Go writes it; ms from `now` on. */
function resetOf(text: string, now: number): number | undefined {
  const number = parseNumber(text)
  if (number === undefined) return capped(parseGoDuration(text) ?? (parseDate(text) ?? NaN) - now)
  if (number < EPOCH_SECONDS) return capped(number * 1000)
  return capped((number < EPOCH_MS ? number * 1000 : number) - now)
}

/** NaN is no time, and so undefined. */
function capped(ms = NaN): number | undefined {
  return !(ms >= 0) ? undefined : Math.min(Math.ceil(ms), MAX_WAIT_MS)
}

/** A wait of 0 says nothing: the server has just refused. */
function believed(ms: number | undefined): number | undefined {
  return capped(ms) || undefined
}

const GO_UNITS_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 }

/** `6m0s`, `1.5s`, `12ms`; ms. */
function parseGoDuration(text: string): number | undefined {
  if (!/^(\d{1,9}(\.\d{1,9})?(h|ms|m|s))+$/.test(text) || text.length > 40) return undefined
  let ms = 0
  for (const [, count, unit] of text.matchAll(/([\d.]+)([a-z]+)/g))
    ms += Number(count) * (GO_UNITS_MS[unit as string] as number)
  return ms
}

/** An HTTP date in each of its three forms (RFC 9110, 5.6.7) or one of RFC 3339; ms since the epoch. */
function parseDate(text: string | null): number | undefined {
  if (text === null || !/^(\d{4}-\d\d-\d\dT|[A-Z][a-z]{2,8},? )/.test(text)) return undefined
  // The form of asctime names no zone, and means GMT.
  const ms = Date.parse(/(GMT|Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`)
  return Number.isNaN(ms) ? undefined : ms
}
