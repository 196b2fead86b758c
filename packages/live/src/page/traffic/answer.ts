import { type Item, parseList } from 'structured-headers'
import type { Algorithm } from '../../limits.ts'

/** The answer to one request to one of the endpoints. Times are ms on the server's clock. */
export interface Answer {
  readonly algorithm: Algorithm
  /** The number of the request, from 1. */
  readonly number: number
  readonly sentAt: number
  readonly answeredAt: number
  readonly status: number
  /** The header fields that speak of the limit, by their names as they are written. */
  readonly fields: ReadonlyMap<string, string>
  /** `q` of RateLimit-Policy. */
  readonly limit: number
  /** `r` of RateLimit: whole units. */
  readonly remaining: number
  /** `t` of RateLimit: whole seconds rounded up, in ms. 0 without one: concurrency has no window. */
  readonly effectiveMs: number
  /** Retry-After in ms; undefined if the request was admitted. */
  readonly retryAfterMs: number | undefined
}

/** The header fields in the order in which they are shown. */
export const FIELDS = [
  'RateLimit-Policy',
  'RateLimit',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
] as const

/** The request that an answer is to. */
export type Asked = Pick<Answer, 'algorithm' | 'number' | 'sentAt'>

/** @throws Error if the answer lacks the fields that the limiter sends */
export function readAnswer(
  request: Asked,
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  answeredAt: number,
): Answer {
  const fields = new Map<string, string>()
  for (const name of FIELDS) {
    const value = headers.get(name)
    if (value !== null) fields.set(name, value)
  }
  const retryAfter = fields.get('Retry-After')
  return {
    ...request,
    answeredAt,
    status,
    fields,
    limit: required(fields, 'RateLimit-Policy', 'q'),
    remaining: required(fields, 'RateLimit', 'r'),
    effectiveMs: (parameter(fields, 'RateLimit', 't') ?? 0) * 1000,
    retryAfterMs: retryAfter === undefined ? undefined : Number(retryAfter) * 1000,
  }
}

export function isAdmitted({ status }: Answer): boolean {
  return status === 200
}

type Fields = ReadonlyMap<string, string>

function required(fields: Fields, field: string, name: string): number {
  const value = parameter(fields, field, name)
  if (value === undefined) throw new Error(`no ${name} in ${field}: ${fields.get(field)}`)
  return value
}

/** A parameter of the only policy that the field lists. */
function parameter(fields: Fields, field: string, name: string): number | undefined {
  const [item] = parseList(fields.get(field) ?? '') as Item[]
  const value = item?.[1].get(name)
  return typeof value === 'number' ? value : undefined
}
