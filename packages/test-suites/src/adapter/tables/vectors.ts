import { expect } from 'expect'
import type { TestOptions } from '../adapter-kit.ts'
import { NOON, type World } from '../world.ts'

interface Vector {
  readonly id: string
  readonly options: TestOptions
  /** ms after noon at which the last request comes. */
  readonly at: number
  /** The values of the field `x-cost` of the requests before the last, for `cost`. */
  readonly before?: readonly string[]
  readonly cost?: string
  readonly status: 200 | 429
  readonly fields: Readonly<Record<string, Readonly<Record<string, string>>>>
}

const HOUR = 3_600_000
const fixed = { algorithm: 'fixed-window', retryAfterJitter: 0 } as const
const byHeader = (position: number) => (request: { headers: Record<string, unknown> }) =>
  Number(String(request.headers['x-cost'] ?? '1').split('/')[position] ?? '1')

const minute: TestOptions = { ...fixed, limit: 100, window: '1m', cost: byHeader(0) }

function several(...policies: [name: string, limit: number, window: number][]): TestOptions {
  return {
    retryAfterJitter: 0,
    policies: policies.map(([name, limit, window], i) => {
      return { name, limit, window, algorithm: 'fixed-window', cost: byHeader(i) }
    }),
  }
}

/** States of a limiter and the exact texts of every profile for them, by the spec's own examples. */
const VECTORS: readonly Vector[] = [
  {
    id: 'E1',
    options: minute,
    at: 30_600,
    before: ['49'],
    status: 200,
    fields: {
      legacy: {
        'x-ratelimit-limit': '100',
        'x-ratelimit-remaining': '50',
        'x-ratelimit-reset': '1795176060',
      },
      'draft-3': {
        'ratelimit-limit': '100, 100;w=60',
        'ratelimit-remaining': '50',
        'ratelimit-reset': '30',
      },
      'draft-6': {
        'ratelimit-limit': '100',
        'ratelimit-policy': '100;w=60',
        'ratelimit-remaining': '50',
        'ratelimit-reset': '30',
      },
      'draft-7': {
        ratelimit: 'limit=100, remaining=50, reset=30',
        'ratelimit-policy': '100;w=60',
      },
      'draft-11': {
        'ratelimit-policy': '"default";q=100;w=60',
        ratelimit: '"default";r=50;t=30',
      },
    },
  },
  {
    id: 'E2',
    options: minute,
    at: 47_999,
    before: ['100'],
    status: 429,
    fields: {
      legacy: {
        'x-ratelimit-limit': '100',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': '1795176061',
        'retry-after': '13',
      },
      'draft-6': {
        'ratelimit-limit': '100',
        'ratelimit-policy': '100;w=60',
        'ratelimit-remaining': '0',
        'ratelimit-reset': '13',
        'retry-after': '13',
      },
      'draft-7': {
        ratelimit: 'limit=100, remaining=0, reset=13',
        'ratelimit-policy': '100;w=60',
        'retry-after': '13',
      },
      'draft-11': {
        'ratelimit-policy': '"default";q=100;w=60',
        ratelimit: '"default";r=0;t=13',
        'retry-after': '13',
      },
    },
  },
  {
    id: 'E3',
    options: several(['hour', 1000, HOUR], ['day', 5000, 24 * HOUR]),
    at: 2 * HOUR,
    before: ['0/4900'],
    cost: '0/0',
    status: 200,
    fields: {
      'draft-3': {
        'ratelimit-limit': '5000, 1000;w=3600, 5000;w=86400',
        'ratelimit-remaining': '100',
        'ratelimit-reset': '36000',
      },
      'draft-6': {
        'ratelimit-limit': '5000',
        'ratelimit-policy': '1000;w=3600, 5000;w=86400',
        'ratelimit-remaining': '100',
        'ratelimit-reset': '36000',
      },
      'draft-7': {
        ratelimit: 'limit=5000, remaining=100, reset=36000',
        'ratelimit-policy': '1000;w=3600, 5000;w=86400',
      },
      'draft-11': {
        'ratelimit-policy': '"hour";q=1000;w=3600, "day";q=5000;w=86400',
        ratelimit: '"hour";r=1000;t=3600, "day";r=100;t=36000',
      },
    },
  },
  {
    id: 'E4',
    options: several(['burst', 10, 1000], ['daily', 1000, 24 * HOUR]),
    at: 700,
    before: ['10/360'],
    status: 429,
    fields: {
      'draft-11': {
        'ratelimit-policy': '"burst";q=10;w=1, "daily";q=1000;w=86400',
        ratelimit: '"burst";r=0;t=1',
        'retry-after': '1',
      },
    },
  },
  {
    id: 'E5',
    options: several(['burst', 10, 1000], ['daily', 1000, 24 * HOUR]),
    at: 12 * HOUR - 40_000_500,
    before: ['10/1000'],
    status: 429,
    fields: {
      'draft-11': {
        'ratelimit-policy': '"burst";q=10;w=1, "daily";q=1000;w=86400',
        ratelimit: '"burst";r=0;t=1, "daily";r=0;t=40001',
        'retry-after': '40001',
      },
    },
  },
  {
    id: 'E9',
    options: several(['a"b\\c', 5, 1000]),
    at: 0,
    status: 200,
    fields: {
      'draft-11': {
        'ratelimit-policy': '"a\\"b\\\\c";q=5;w=1',
        ratelimit: '"a\\"b\\\\c";r=4;t=1',
      },
    },
  },
  {
    id: 'E10',
    options: several(['fast', 10, 500], ['odd', 10, 1500]),
    at: 0,
    status: 200,
    fields: {
      'draft-11': {
        'ratelimit-policy': '"fast";q=10;w=1, "odd";q=10;w=2',
        ratelimit: '"fast";r=9;t=1, "odd";r=9;t=2',
      },
      'draft-6': {
        'ratelimit-limit': '10',
        'ratelimit-policy': '10;w=2',
        'ratelimit-remaining': '9',
        'ratelimit-reset': '2',
      },
    },
  },
  {
    id: 'E14',
    options: several(['blocked', 0, HOUR]),
    at: 0,
    status: 429,
    fields: {
      'draft-11': {
        'ratelimit-policy': '"blocked";q=0;w=3600',
        ratelimit: '"blocked";r=0;t=3600',
        'retry-after': '3600',
      },
    },
  },
]

/** Real responses against the vectors. */
export function vectorTests(world: World): void {
  const { describe, test } = world
  for (const { id, fields, ...vector } of VECTORS)
    describe(`vector ${id}`, () => {
      for (const [profile, expected] of Object.entries(fields))
        test(profile, async () => {
          const headers = profile as 'draft-11'
          const { options, at, before = [], cost, status } = vector
          const site = await world.start({ ...options, headers })
          world.clock.set(NOON + at)
          for (const earlier of before) await site.send({ headers: { 'x-cost': earlier } })
          const reply = await site.send({ headers: cost === undefined ? {} : { 'x-cost': cost } })
          expect(reply.status).toBe(status)
          expect(reply.limitFields()).toEqual(expected)
        })
    })
}
