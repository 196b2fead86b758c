import { expect } from 'expect'
import {
  parseDictionary,
  parseItem,
  parseList,
  serializeDictionary,
  serializeItem,
  serializeList,
} from 'structured-headers'
import type { Reply } from './reply.ts'

const list = (text: string) => serializeList(parseList(text))
const item = (text: string) => serializeItem(parseItem(text))
const dictionary = (text: string) => serializeDictionary(parseDictionary(text))

/** The longest timer of a client in JavaScript: 2 ** 31 − 1 ms. */
const MAX_TIMER_SECONDS = 2_147_483

/** The structured type of each field; only draft-7 has a Dictionary. */
const FIELDS: Record<string, (text: string) => string> = {
  'RateLimit-Policy': list,
  RateLimit: (text) => (text.startsWith('limit=') ? dictionary(text) : list(text)),
  // A List in draft-3, which a single Item is too.
  'RateLimit-Limit': list,
  'RateLimit-Remaining': item,
  'RateLimit-Reset': item,
}

/**
 * Asserts the rules for every response of a limited server: each field is on one line, reads back as
 * a structured field and is the canonical text of it (RFC 9651), and nothing of it is in the
 * trailers. A refusal has a Retry-After, in whole seconds that no client's timer overflows on.
 */
export function assertWellFormed(reply: Reply): void {
  // A matcher costs more than the check, and this runs for every response.
  const faults = faultsIn(reply)
  if (faults.length > 0) expect(faults).toEqual([])
}

function faultsIn(reply: Reply): string[] {
  const faults: string[] = []
  for (const [name, canonical] of Object.entries(FIELDS)) {
    const text = reply.field(name)
    if (text === undefined || canonical(text) === text) continue
    faults.push(`${name}: ${text}, which is not canonical: ${canonical(text)}`)
  }
  if (reply.trailers.length > 0) faults.push(`trailers: ${reply.trailers.join(', ')}`)
  if (reply.status === 429 || reply.status === 503) faults.push(...retryAfterFaults(reply))
  return faults
}

function retryAfterFaults(reply: Reply): string[] {
  const retryAfter = reply.field('Retry-After') ?? 'missing'
  const seconds = Number(retryAfter)
  if (!/^[1-9]\d*$/.test(retryAfter) || seconds > MAX_TIMER_SECONDS) {
    return [`Retry-After: ${retryAfter}`]
  }
  const resets = (reply.field('RateLimit') ?? '').matchAll(/;t=(\d+)/g)
  return [...resets]
    .filter(([, t]) => Number(t) > seconds)
    .map(([reset]) => `RateLimit: ${reset}, beyond Retry-After: ${retryAfter}`)
}
