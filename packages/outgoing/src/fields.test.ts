import { describe, expect, test } from '@jest/globals'
import { type Answer, DIALECTS, type Dialect, MAX_WAIT_MS, readAnswer } from './fields.ts'

/** Monday 2026-11-23, 12:00:00 UTC, as the server and this process have it. */
const NOW = Date.UTC(2026, 10, 23, 12)

function read(
  headers: Record<string, string>,
  { status = 429, obey = DIALECTS as readonly Dialect[], now = NOW } = {},
): Answer {
  return readAnswer(status, new Headers(headers), new Set(obey), now)
}

const quotaOf = (headers: Record<string, string>, now = NOW) =>
  read(headers, { status: 200, now }).quotas[0]

describe('the wait of a refusal', () => {
  test.each<[string, Record<string, string>, number | undefined]>([
    ['seconds', { 'retry-after': '7' }, 7000],
    ['a date', { 'retry-after': 'Mon, 23 Nov 2026 12:00:09 GMT' }, 9000],
    ['a date as RFC 850 has it', { 'retry-after': 'Monday, 23-Nov-26 12:00:09 GMT' }, 9000],
    ['a date as asctime has it', { 'retry-after': 'Mon Nov 23 12:00:09 2026' }, 9000],
    [
      'a date, by the clock of the server',
      { date: 'Mon, 23 Nov 2026 11:59:59 GMT', 'retry-after': 'Mon, 23 Nov 2026 12:00:09 GMT' },
      10_000,
    ],
    ['milliseconds', { 'retry-after-ms': '1250' }, 1250],
    [
      'milliseconds, which seconds only round',
      { 'retry-after-ms': '1250', 'retry-after': '2' },
      1250,
    ],
    [
      'the longer of two that contradict each other',
      { 'retry-after-ms': '50', 'retry-after': '20' },
      20_000,
    ],
    [
      'the longer of two that contradict each other',
      { 'retry-after-ms': '60000', 'retry-after': '1' },
      60_000,
    ],
    ['10^12 seconds', { 'retry-after': '1000000000000' }, MAX_WAIT_MS],
    ['16 digits', { 'retry-after': '1'.repeat(16) }, MAX_WAIT_MS],
    ['a number with 400 digits', { 'retry-after': '9'.repeat(400) }, MAX_WAIT_MS],
    ['a text of 5,000 characters', { 'retry-after': '9'.repeat(5000) }, undefined],
    ['a negative number', { 'retry-after': '-5' }, undefined],
    ['nothing at all', { 'retry-after': '0' }, undefined],
    ['a date of 1970', { 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }, undefined],
    ['a date of the year 9999', { 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' }, MAX_WAIT_MS],
    ['words', { 'retry-after': 'later' }, undefined],
    ['the same value twice', { 'retry-after': '3, 3' }, 3000],
    ['two values', { 'retry-after': '7, 5' }, 7000],
    ['two values, of which one is none', { 'retry-after': 'later, 5' }, 5000],
    [
      'two dates',
      { 'retry-after': 'Mon, 23 Nov 2026 12:00:09 GMT, Mon, 23 Nov 2026 12:00:04 GMT' },
      9000,
    ],
    ['a number and a date', { 'retry-after': '4, Monday, 23-Nov-26 12:00:09 GMT' }, 9000],
    ['milliseconds twice', { 'retry-after-ms': '1250, 1250' }, 1250],
    [
      'when a quota that is used up is full again',
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '30' },
      30_000,
    ],
    [
      'when the first unit of a bucket is back',
      {
        'x-ratelimit-limit-requests': '60',
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '1m0s',
      },
      1000,
    ],
  ])('%s', (_, headers, waitMs) => {
    expect(read(headers).waitMs).toBe(waitMs)
  })

  test('only of what is obeyed', () => {
    expect(read({ 'retry-after': '7' }, { obey: ['ratelimit'] }).waitMs).toBeUndefined()
    expect(read({ 'retry-after': '7' }, { status: 200 })).toMatchObject({
      isRefusal: false,
      waitMs: undefined,
    })
  })

  test.each([
    ['429', 429, {}, true],
    ['503 with Retry-After', 503, { 'retry-after': '3' }, true],
    ['503 without', 503, {}, false],
    ['403 of GitHub with nothing left', 403, { 'x-ratelimit-remaining': '0' }, true],
    ['403', 403, { 'x-ratelimit-remaining': '5' }, false],
  ])('%s', (_, status, headers, isRefusal) => {
    expect(read(headers as Record<string, string>, { status }).isRefusal).toBe(isRefusal)
  })

  test('no attempt helps, if the server says so', () => {
    expect(read({ 'x-should-retry': 'false' }).isFinal).toBe(true)
    expect(read({ 'stripe-should-retry': 'false' }).isFinal).toBe(true)
    expect(read({ 'x-should-retry': 'true', 'stripe-should-retry': 'true' }).isFinal).toBe(false)
  })
})

describe('what is left', () => {
  const minute = { limit: 100, remaining: 42, resetMs: 60_000, unit: 'requests', refills: false }

  test.each<[string, Record<string, string>, object]>([
    [
      'draft 11',
      { 'ratelimit-policy': '"burst";q=100;w=3600', ratelimit: '"burst";r=42;t=60' },
      minute,
    ],
    [
      'draft 8, without the time',
      { 'ratelimit-policy': '"burst";q=100;w=60', ratelimit: '"burst";r=42' },
      minute,
    ],
    [
      'draft 11, of tokens',
      { 'ratelimit-policy': '"t";q=100;w=60;qu="tokens"', ratelimit: '"t";r=42;t=60' },
      { ...minute, unit: 'tokens' },
    ],
    [
      'draft 7',
      { 'ratelimit-policy': '100;w=60', ratelimit: 'limit=100, remaining=42, reset=60' },
      minute,
    ],
    [
      'draft 6',
      { 'ratelimit-limit': '100', 'ratelimit-remaining': '42', 'ratelimit-reset': '60' },
      minute,
    ],
    [
      'draft 3',
      { 'ratelimit-limit': '100, 100;w=60', 'ratelimit-remaining': '42', 'ratelimit-reset': '60' },
      minute,
    ],
    [
      'GitHub',
      {
        'x-ratelimit-limit': '100',
        'x-ratelimit-remaining': '42',
        'x-ratelimit-reset': `${NOW / 1000 + 60}`,
      },
      minute,
    ],
    [
      'ms since the epoch',
      {
        'x-ratelimit-limit': '100',
        'x-ratelimit-remaining': '42',
        'x-ratelimit-reset': `${NOW + 60_000}`,
      },
      minute,
    ],
    [
      'seconds',
      { 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '42', 'x-ratelimit-reset': '60' },
      minute,
    ],
    [
      'OpenAI',
      {
        'x-ratelimit-limit-requests': '100',
        'x-ratelimit-remaining-requests': '42',
        'x-ratelimit-reset-requests': '1m0s',
      },
      { ...minute, refills: true },
    ],
    [
      'OpenAI, tokens',
      {
        'x-ratelimit-limit-tokens': '100',
        'x-ratelimit-remaining-tokens': '42',
        'x-ratelimit-reset-tokens': '0h0m59.5s500ms',
      },
      { ...minute, unit: 'tokens', refills: true },
    ],
    [
      'Anthropic',
      {
        'anthropic-ratelimit-output-tokens-limit': '100',
        'anthropic-ratelimit-output-tokens-remaining': '42',
        'anthropic-ratelimit-output-tokens-reset': '2026-11-23T12:01:00Z',
      },
      { ...minute, unit: 'output-tokens', refills: true },
    ],
  ])('%s', (_, headers, expected) => {
    expect(quotaOf(headers)).toMatchObject(expected)
  })

  test('by the clock of the server, which is an hour ahead', () => {
    const headers = {
      date: 'Mon, 23 Nov 2026 13:00:00 GMT',
      'x-ratelimit-remaining': '42',
      'x-ratelimit-reset': `${NOW / 1000 + 3660}`,
    }
    expect(quotaOf(headers)?.resetMs).toBe(60_000)
  })

  test.each<[string, Record<string, string>]>([
    ['a negative number', { 'x-ratelimit-remaining': '-1' }],
    ['an infinite one', { 'x-ratelimit-remaining': 'Infinity' }],
    ['half a request', { 'x-ratelimit-remaining': '0.5' }],
    ['a malformed list', { ratelimit: '"d";r=50 ;t=30' }],
    ['a negative one in a list', { ratelimit: '"d";r=-1;t=30' }],
    ['text in a list', { ratelimit: '"d";r="5"' }],
    [
      'what is in use',
      { 'ratelimit-policy': '"c";q=20;qu="concurrent-requests"', ratelimit: '"c";r=0' },
    ],
    ['a list of 5000 characters', { ratelimit: `"${'d'.repeat(5000)}";r=0;t=30` }],
  ])('%s is not believed', (_, headers) => {
    expect(read(headers).quotas).toEqual([])
  })

  test('more than the limit is the limit, a time that has passed or is far away is bounded', () => {
    const left = { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '99' }
    expect(quotaOf(left)?.remaining).toBe(10)
    expect(quotaOf({ ...left, 'x-ratelimit-reset': '1000000001' })?.resetMs).toBeUndefined()
    expect(quotaOf({ ...left, 'x-ratelimit-reset': '999999999' })?.resetMs).toBe(MAX_WAIT_MS)
  })

  test('at most 32 quotas of an answer', () => {
    const all = Array.from({ length: 200 }, (_, i) => `"${i}";r=1;t=1`).join(', ')
    expect(read({ ratelimit: all }).quotas).toHaveLength(32)
  })
})
