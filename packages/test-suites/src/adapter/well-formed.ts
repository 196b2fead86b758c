import { expect } from 'expect'
import {
  parseDictionary,
  parseItem,
  parseList,
  serializeDictionary,
  serializeItem,
  serializeList,
} from 'structured-headers'
import type { Reply } from './client.ts'

const list = (text: string) => serializeList(parseList(text))
const item = (text: string) => serializeItem(parseItem(text))
const dictionary = (text: string) => serializeDictionary(parseDictionary(text))

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
 * What holds for every response of a limited server: each field is on one line, reads back as
 * a structured field and is the canonical text of it (RFC 9651), and nothing of it is in the
 * trailers. A refusal has a Retry-After, in whole seconds that no client's timer overflows on.
 */
export function assertWellFormed(reply: Reply): void {
  for (const [name, canonical] of Object.entries(FIELDS)) {
    const text = reply.field(name)
    if (text !== undefined) expect([name, canonical(text)]).toEqual([name, text])
  }
  expect(reply.trailers).toEqual([])
  if (reply.status !== 429 && reply.status !== 503) return
  const retryAfter = reply.field('Retry-After')
  expect(retryAfter).toMatch(/^[1-9]\d*$/)
  expect(Number(retryAfter)).toBeLessThanOrEqual(2_147_483)
  for (const [, t] of (reply.field('RateLimit') ?? '').matchAll(/;t=(\d+)/g)) {
    expect(Number(t)).toBeLessThanOrEqual(Number(retryAfter))
  }
}
