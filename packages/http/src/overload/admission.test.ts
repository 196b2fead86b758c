import { describe, expect, test } from '@jest/globals'
import { random as randomFrom } from '@sluice/test-harness/random'
import type { AdmissionOptions } from './admission.ts'
import {
  type Arrival,
  database,
  type Outcome,
  poisson,
  VirtualServer,
} from './testing/virtual-server.ts'

const CRITICAL = 0
const NORMAL = 1
const CLASSES = [
  { name: 'critical', reserve: 0.3 },
  { name: 'normal', reserve: 0 },
]

type Handler = ConstructorParameters<typeof VirtualServer>[1]

/** Each serves 100 requests a second. */
const HANDLERS: Record<string, () => Handler> = {
  'on the CPU': () => (server, end) => {
    server.block(10)
    end()
  },
  'on the CPU after a wait': () => (server, end) =>
    server.at(server.now + 1, () => {
      server.block(10)
      end()
    }),
  'a slow database of 10 connections': () => {
    const query = database(10, () => 100)
    return (server, end) => query(server, end)
  },
  'a database whose queries differ': () => {
    const random = randomFrom(7)
    const query = database(10, () => -Math.log(1 - random()) * 100)
    return (server, end) => query(server, end)
  },
  'half of each': () => {
    const query = database(10, () => 100)
    return (server, end) =>
      query(server, () => {
        server.block(5)
        end()
      })
  },
}

function played(
  handler: Handler,
  loads: readonly { perSecond: number; from: number; to: number; draw?: () => Arrival }[],
  options: Partial<AdmissionOptions> = { classes: CLASSES },
): VirtualServer {
  const server = new VirtualServer(options, handler)
  const random = randomFrom(3)
  let to = 0
  for (const { draw, ...load } of loads) {
    const key = () => `client-${Math.floor(random() * 20)}`
    poisson(random, load, (at) => server.arrive(at, { key: key(), ...draw?.() }))
    to = Math.max(to, load.to)
  }
  server.run(to + 5000)
  return server
}

const of = (server: VirtualServer, isIn: (outcome: Outcome) => boolean = () => true) =>
  server.outcomes.filter(isIn)
const served = (outcomes: readonly Outcome[]) =>
  outcomes.filter(({ result }) => result === 'served')
const shed = (outcomes: readonly Outcome[]) => outcomes.filter(({ result }) => result === 'shed')

function p99(outcomes: readonly Outcome[]): number {
  const latencies = served(outcomes).map(({ latencyMs }) => latencyMs)
  latencies.sort((a, b) => a - b)
  return latencies[Math.floor(latencies.length * 0.99)] as number
}

/** Critical requests of half the capacity, and others. */
function mix(load: number): () => Arrival {
  const random = randomFrom(11)
  return () => ({ importance: random() < 0.5 / load ? CRITICAL : NORMAL })
}

describe.each(Object.entries(HANDLERS))('a handler: %s', (_, handler) => {
  test('below its capacity nothing is shed', () => {
    const server = played(handler(), [{ perSecond: 80, from: 0, to: 20_000 }])
    expect(shed(server.outcomes)).toEqual([])
  })

  test.each([3, 10])('at %i times its capacity it does what it can, the critical first', (load) => {
    const calm = played(handler(), [{ perSecond: 80, from: 0, to: 20_000, draw: mix(0.8) }])
    const server = played(handler(), [
      { perSecond: 100 * load, from: 0, to: 20_000, draw: mix(load) },
    ])
    const good = served(server.outcomes).filter(({ latencyMs }) => latencyMs <= 1000)
    expect(good.length / 2000).toBeGreaterThan(0.9)
    const critical = of(server, ({ importance }) => importance === CRITICAL)
    expect(served(critical).length / critical.length).toBeGreaterThan(0.97)
    const late = of(server, ({ at }) => at > 3000)
    expect(p99(late) / p99(calm.outcomes)).toBeLessThan(3)
  })

  test('after the load nothing is shed within a second', () => {
    const server = played(handler(), [
      { perSecond: 1000, from: 0, to: 10_000 },
      { perSecond: 50, from: 10_000, to: 20_000 },
    ])
    expect(shed(of(server, ({ at }) => at > 11_000))).toEqual([])
  })
})

test.each<[number, number, number]>([
  [10, 100, 0],
  [10, 500, 0],
  [50, 1000, 0],
  [10, 1000, 20_000],
  [10, 2000, 20_000],
])(
  'a database of %i connections whose queries take %i ms is protected, after %i ms of knowing nothing',
  (connections, ms, from) => {
    const query = database(connections, () => ms)
    const perSecond = (connections * 1000) / ms
    const server = played(
      (self, end) => query(self, end),
      [{ perSecond: 3 * perSecond, from: 0, to: from + 60_000 }],
      {},
    )
    const good = served(server.outcomes).filter(
      ({ at, latencyMs }) =>
        at + latencyMs > from && at < from + 60_000 && latencyMs < 1000 + 2 * ms,
    )
    expect(good.length / perSecond / 60).toBeGreaterThan(0.9)
  },
)

test('a limit that has grown while all found a place falls within seconds', () => {
  // As many queries as that run at once before the load comes: the limit is far above.
  const query = database(20, () => 200)
  const server = played(
    (self, end) => query(self, end),
    [
      { perSecond: 80, from: 0, to: 6000 },
      { perSecond: 300, from: 6000, to: 16_000 },
    ],
  )
  const late = served(of(server, ({ at }) => at > 10_000 && at < 15_000))
  expect(late.filter(({ latencyMs }) => latencyMs <= 1000).length / 500).toBeGreaterThan(0.9)
})

test('critical requests over new connections, of which a turn accepts one, do not wait for the others', () => {
  const draw = mix(10)
  const server = played(
    (self, end) => {
      self.block(10)
      end()
    },
    [{ perSecond: 1000, from: 0, to: 5000, draw: () => ({ ...draw(), connects: true }) }],
  )
  const critical = of(server, ({ importance }) => importance === CRITICAL)
  expect(critical.length).toBeGreaterThan(200)
  expect(served(critical)).toHaveLength(critical.length)
  expect(p99(critical)).toBeLessThan(150)
})

test('one that connects during a slice is read before the next one, however quiet it was before', () => {
  const server = new VirtualServer({ classes: CLASSES }, (self, end) => {
    self.block(10)
    end()
  })
  for (let i = 0; i < 10; i += 1) server.arrive(0, { importance: NORMAL })
  server.arrive(55, { importance: CRITICAL, connects: true })
  server.run(500)
  const critical = of(server, ({ importance }) => importance === CRITICAL)
  expect(critical).toMatchObject([{ result: 'served', latencyMs: 15 }])
})

test('a burst waits and is served', () => {
  const server = played(
    (HANDLERS['on the CPU'] as () => Handler)(),
    Array.from({ length: 90 }, () => ({ perSecond: 0, from: 0, to: 0 })),
  )
  for (let i = 0; i < 90; i += 1) server.arrive(6000)
  server.run(9000)
  expect(served(server.outcomes)).toHaveLength(90)
})

describe('a process that stands still', () => {
  /** Ms of standing still, and how many may be shed of those who came meanwhile. */
  test.each([
    ['a garbage collection', 500, 0],
    ['a suspension', 5000, 500],
  ])('%s: its limit stays, and it goes on', (_, ms, most) => {
    for (const [name, handler] of Object.entries(HANDLERS)) {
      const server = new VirtualServer({}, handler())
      poisson(randomFrom(5), { perSecond: 70, from: 0, to: 20_000 }, (at) => server.arrive(at))
      let before = 0
      server.at(8000, () => {
        before = server.admission.limit
        server.block(ms)
      })
      server.at(8000 + ms + 200, () =>
        expect([name, server.admission.limit >= before / 4]).toEqual([name, true]),
      )
      server.run(25_000)
      expect(shed(of(server, ({ at }) => at < 8000))).toEqual([])
      expect(shed(of(server, ({ at }) => at >= 8000)).length).toBeLessThanOrEqual(most)
      expect(shed(of(server, ({ at }) => at > 8000 + ms + 2000))).toEqual([])
    }
  })
})

describe('a client', () => {
  const slow = () => (HANDLERS['a slow database of 10 connections'] as () => Handler)()

  test('with a thousand requests does not hold up one with one', () => {
    const server = new VirtualServer({}, slow())
    for (let i = 0; i < 1000; i += 1) server.arrive(0, { key: 'many' })
    server.arrive(10, { key: 'one' })
    server.run(5000)
    const [one] = of(server, ({ key }) => key === 'one')
    expect(one).toMatchObject({ result: 'served' })
    expect(one?.latencyMs).toBeLessThan(500)
  })

  test('that leaves while it waits leaves the queue, and nothing is done for it', () => {
    let handled = 0
    const handler = slow()
    const server = new VirtualServer({}, (...given) => {
      handled += 1
      handler(...given)
    })
    for (let i = 0; i < 100; i += 1) server.arrive(0, { patienceMs: 50 })
    server.run(5000)
    expect(server.admission.waiting).toBe(0)
    expect(handled + of(server, ({ result }) => result === 'left').length).toBe(100)
    expect(of(server, ({ result }) => result === 'left').length).toBeGreaterThan(50)
  })

  test('that claims the most important class takes turns with the others of it', () => {
    const random = randomFrom(4)
    const server = new VirtualServer({ classes: CLASSES }, slow())
    const claimed = { perSecond: 500, from: 0, to: 10_000 }
    poisson(random, claimed, (at) => server.arrive(at, { importance: CRITICAL, key: 'liar' }))
    const honest = { perSecond: 30, from: 0, to: 10_000 }
    poisson(random, honest, (at) => server.arrive(at, { importance: CRITICAL, key: 'honest' }))
    server.run(15_000)
    const own = of(server, ({ key }) => key === 'honest')
    expect(served(own).length / own.length).toBeGreaterThan(0.9)
  })
})

describe('a handler that hangs', () => {
  test('holds its place for a second, so that the others are served', () => {
    const server = played(
      (self, end, { importance }) => {
        if (importance === NORMAL) self.at(self.now + 50, end)
      },
      [
        { perSecond: 50, from: 0, to: 20_000, draw: () => ({ importance: NORMAL }) },
        // Twenty of them at once fill all places.
        { perSecond: 2, from: 5000, to: 20_000, draw: () => ({ importance: CRITICAL }) },
      ],
    )
    const others = of(server, ({ importance }) => importance === NORMAL)
    expect(served(others).length / others.length).toBeGreaterThan(0.98)
  })

  test('after requests that were fast: few are let in until it answers again', () => {
    let open = 0
    let hung: (() => void)[] = []
    const server = played(
      (self, end, { at }) => {
        if (at < 5000 || at > 60_000) return self.at(self.now + 50, end)
        open += 1
        hung.push(end)
      },
      [{ perSecond: 50, from: 0, to: 70_000 }],
    )
    expect(open).toBeLessThan(300)
    expect(shed(of(server, ({ at }) => at > 63_000))).toEqual([])
    hung = []
    expect(server.admission.waiting).toBe(0)
  })

  test('of one client among others: they are served', () => {
    const server = played(
      (self, end, { key }) => {
        if (key !== 'attacker') self.at(self.now + 50, end)
      },
      [
        { perSecond: 20, from: 0, to: 30_000 },
        { perSecond: 100, from: 5000, to: 30_000, draw: () => ({ key: 'attacker' }) },
      ],
    )
    const others = of(server, ({ key }) => key !== 'attacker')
    expect(served(others).length / others.length).toBeGreaterThan(0.98)
  })
})

describe('a server that is idle refuses nothing, however long requests take', () => {
  interface Sort {
    readonly perSecond: number
    readonly kind: string
    readonly ms: (random: () => number) => number
  }
  const fast = (perSecond: number): Sort => ({ perSecond, kind: 'fast', ms: () => 1 })
  const slow = (perSecond: number, ms: number): Sort => ({ perSecond, kind: 'slow', ms: () => ms })
  /** The times of calls of language models: from 1 to 60 s, most of them short. */
  const models = (perSecond: number): Sort => ({
    ...{ perSecond, kind: 'models' },
    ms: (random) => 1000 + 59_000 * random() ** 3,
  })

  /** The handlers only sleep. @param sortOf what the load shedder takes for their kind */
  function playedSleeping(sorts: readonly Sort[], kindOf: (kind: string) => string): VirtualServer {
    const random = randomFrom(9)
    const times = new Map<string, number>()
    const server = new VirtualServer({}, (self, end, { key }) =>
      self.at(self.now + (times.get(key as string) as number), end),
    )
    for (const { kind, ms, ...rate } of sorts)
      poisson(random, { ...rate, from: 0, to: 90_000 }, (at) => {
        const key = `${times.size}`
        times.set(key, ms(random))
        server.arrive(at, { key, kind: kindOf(kind) })
      })
    server.run(95_000)
    return server
  }

  describe.each<[string, readonly Sort[]]>([
    ['1 ms beside 2 s', [fast(60), slow(12, 2000)]],
    ['4 s', [slow(30, 4000)]],
    ['2 s', [slow(40, 2000)]],
    ['0.9 s', [slow(40, 900)]],
    ['long polls of 30 s beside fast routes', [fast(100), slow(30, 30_000)]],
    ['models beside fast routes', [fast(100), models(20)]],
    ['models alone', [models(20)]],
  ])('%s', (_, sorts) => {
    test('by route', () => {
      expect(shed(playedSleeping(sorts, (kind) => kind).outcomes)).toEqual([])
    })

    test('by class', () => {
      expect(shed(playedSleeping(sorts, () => 'all').outcomes)).toEqual([])
    })
  })

  test('requests of which most were fast may all become slow', () => {
    const server = new VirtualServer({}, (self, end, { at }) =>
      self.at(self.now + (at < 10_000 ? 1 : 2000), end),
    )
    const draw = (at: number) => server.arrive(at, { kind: at < 10_000 ? 'fast' : 'slow' })
    poisson(randomFrom(9), { perSecond: 30, from: 0, to: 40_000 }, draw)
    server.run(45_000)
    expect(shed(server.outcomes)).toEqual([])
  })
})

test('a database that is short is protected beside requests that take long', () => {
  const query = database(10, () => 100)
  const server = new VirtualServer({}, (self, end, { kind }) => {
    if (kind === 'query') query(self, end)
    else self.at(self.now + 2000, end)
  })
  const random = randomFrom(4)
  const key = () => `client-${Math.floor(random() * 20)}`
  for (const [kind, perSecond, from] of [
    ['query', 80, 0],
    ['query', 220, 10_000],
    ['slow', 12, 0],
  ] as const)
    poisson(random, { perSecond, from, to: 40_000 }, (at) =>
      server.arrive(at, { kind, key: key() }),
    )
  server.run(45_000)
  const late = served(of(server, ({ at, kind }) => kind === 'query' && at > 10_000))
  expect(late.filter(({ latencyMs }) => latencyMs <= 1000).length / 3000).toBeGreaterThan(0.85)
})

describe('streams of an hour', () => {
  const HOUR = 3_600_000

  test.each([
    ['whose head was sent, so that the client decides', true],
    ['that the load shedder knows nothing of', false],
  ])('%s, hold no place: beside them nothing is refused', (_, isHeadSent) => {
    const server = new VirtualServer(
      { isClients: ({ request }) => isHeadSent && (request as Outcome).kind === 'stream' },
      (self, end, { kind }) => self.at(self.now + (kind === 'stream' ? HOUR : 20), end),
    )
    const random = randomFrom(2)
    poisson(random, { perSecond: 0.1, from: 0, to: HOUR }, (at) =>
      server.arrive(at, { kind: 'stream', key: `${at}` }),
    )
    poisson(random, { perSecond: 3, from: 0, to: HOUR }, (at) =>
      server.arrive(at, { kind: 'fast' }),
    )
    server.run(HOUR - 1)
    expect(server.outcomes.length).toBeGreaterThan(10_000)
    expect(shed(server.outcomes)).toEqual([])
    expect(server.admission.active).toBeLessThan(20)
    server.run(3 * HOUR)
    expect(served(server.outcomes)).toHaveLength(server.outcomes.length)
  })
})

test('a proxy that repeats what was refused, twice at once, does not take the goodput away', () => {
  const query = database(10, () => 100)
  const server = new VirtualServer({}, (self, end) => query(self, end))
  poisson(randomFrom(3), { perSecond: 300, from: 0, to: 20_000 }, (at) =>
    server.arrive(at, { repeats: 2 }),
  )
  server.run(25_000)
  expect(server.outcomes.length).toBeGreaterThan(6000 * 2)
  const good = served(server.outcomes).filter(({ latencyMs }) => latencyMs <= 1000)
  expect(good.length / 2000).toBeGreaterThan(0.9)
})

describe('a reserved share', () => {
  const TERMS = [
    { name: 'critical', reserve: 0 },
    { name: 'batch', reserve: 0.2 },
  ]
  const BATCH = 1
  test('of a less important class is used by nobody else while it needs it', () => {
    for (const handler of Object.values(HANDLERS)) {
      const server = played(
        handler(),
        [
          { perSecond: 300, from: 0, to: 10_000, draw: () => ({ importance: CRITICAL }) },
          { perSecond: 15, from: 0, to: 10_000, draw: () => ({ importance: BATCH }) },
        ],
        { classes: TERMS },
      )
      const batch = of(server, ({ importance }) => importance === BATCH)
      expect(served(batch).length / batch.length).toBeGreaterThan(0.6)
    }
  })

  test('is kept for requests that wait for the event loop, before the loop of control has seen them', () => {
    let batch = 0
    const server = new VirtualServer({ classes: TERMS }, (self, _, { importance }) => {
      self.block(4)
      if (importance === BATCH) batch += 1
    })
    for (let i = 0; i < 30; i += 1) {
      server.arrive(0, { importance: CRITICAL })
      if (i < 10) server.arrive(0, { importance: BATCH })
    }
    server.run(99)
    expect([server.admission.limit, server.admission.active, batch]).toEqual([20, 20, 4])
  })

  test('is kept for a class whose requests are refused before they have asked for a place', () => {
    const classes = [
      { name: 'normal', reserve: 0 },
      { name: 'batch', reserve: 0.5 },
    ]
    const server = new VirtualServer({ classes, maxWaiting: 0 }, (self, end, { at }) => {
      if (at === 0) self.block(10)
      self.at(self.now + 1000, end)
    })
    const isBatch = { importance: 1 }
    server.arrive(0)
    server.arrive(0, isBatch)
    for (let i = 0; i < 30; i += 1) server.arrive(20)
    server.arrive(20, isBatch)
    server.run(50)
    const ofBatch = of(server, ({ importance }) => importance === 1)
    expect(ofBatch.map(({ result }) => result)).toEqual(['shed', undefined])
  })

  test('is kept for a class as it has needed it, however long its requests have taken', () => {
    const server = new VirtualServer({ classes: TERMS }, (self, end, { importance }) =>
      self.at(self.now + (importance === BATCH ? 890 : 5000), end),
    )
    for (let i = 0; i < 4; i += 1) server.arrive(0, { importance: BATCH })
    for (let i = 0; i < 30; i += 1) server.arrive(1, { importance: CRITICAL })
    server.run(889)
    // Nothing has ended yet, so it may not be known whether they wait for one another: there are more places.
    expect([server.admission.limit, server.admission.active]).toEqual([45, 34])
    server.run(891)
    expect(server.admission.active).toBe(30)
  })

  test('is used by others while nobody needs it', () => {
    const server = played(
      (HANDLERS['a slow database of 10 connections'] as () => Handler)(),
      [{ perSecond: 300, from: 0, to: 10_000, draw: () => ({ importance: CRITICAL }) }],
      { classes: [TERMS[0] as (typeof TERMS)[0], { name: 'batch', reserve: 0.9 }] },
    )
    expect(served(server.outcomes).length / 1000).toBeGreaterThan(0.9)
  })
})

test('a full heap closes the queue, and leaves at least one place', () => {
  const server = new VirtualServer({}, (HANDLERS['on the CPU after a wait'] as () => Handler)())
  poisson(randomFrom(6), { perSecond: 300, from: 0, to: 20_000 }, (at) => server.arrive(at))
  server.at(5000, () => {
    server.heap = 0.95
  })
  server.at(9000, () => {
    expect(server.admission.control.signal).toBe('heap')
    expect([server.admission.waiting, server.admission.limit]).toEqual([0, 1])
    server.heap = 0.5
  })
  server.run(25_000)
  const meanwhile = of(server, ({ at }) => at > 6000 && at < 9000)
  expect(served(meanwhile).length).toBeGreaterThan(100)
  const after = of(server, ({ at }) => at > 10_000 && at < 20_000)
  expect(served(after).length).toBeGreaterThan(900)
})

test('a cold process among four serves its part as it gets faster', () => {
  const server = played(
    (self, end) => {
      // Ten times slower at first.
      self.block(self.now < 3000 ? 100 - 0.03 * self.now : 10)
      end()
    },
    [{ perSecond: 80, from: 0, to: 20_000 }],
  )
  expect(shed(of(server, ({ at }) => at > 6000))).toEqual([])
})

test('a database that becomes four times slower is not taken for a crowd for long', () => {
  const query = database(40, () => 50)
  let slow = false
  const server = new VirtualServer({}, (self, end) => {
    query(self, () => (slow ? self.at(self.now + 150, end) : end()))
  })
  poisson(randomFrom(8), { perSecond: 300, from: 0, to: 60_000 }, (at) => server.arrive(at))
  server.at(20_000, () => {
    slow = true
  })
  server.run(65_000)
  expect(shed(of(server, ({ at }) => at > 45_000)).length).toBeLessThan(50)
})

test('reports once a second and when shedding begins; without requests it stops', () => {
  const reports: { at: number; begins: boolean }[] = []
  const server: VirtualServer = new VirtualServer(
    {},
    (HANDLERS['on the CPU'] as () => Handler)(),
    () => reports.push({ at: server.now, begins: server.admission.sheddingSince === server.now }),
  )
  poisson(randomFrom(2), { perSecond: 300, from: 0, to: 5000 }, (at) => server.arrive(at))
  server.run(60_000)
  expect(reports.filter(({ begins }) => begins)).toHaveLength(1)
  expect(reports.length).toBeGreaterThan(4)
  expect(reports.at(-1)?.at).toBeLessThan(7000)
  // The last one is made when nothing is left to do.
  for (const [i, { at, begins }] of reports.slice(0, -1).entries())
    if (!begins && i > 0) expect(at - (reports[i - 1]?.at as number)).toBeGreaterThanOrEqual(1000)
})

test('a request that never ends is forgotten after ten minutes: then nothing is reported', () => {
  const reports: number[] = []
  const server: VirtualServer = new VirtualServer(
    {},
    () => {},
    () => reports.push(server.now),
  )
  server.arrive(0)
  server.run(700_000)
  expect(reports.at(-1)).toBeGreaterThan(599_000)
  expect(reports.at(-1)).toBeLessThan(602_000)
})

test('one that comes when a place is free goes behind those of its class that wait', () => {
  const begun: number[] = []
  const ends: (() => void)[] = []
  const server = new VirtualServer({}, (_, end, { at }) => {
    begun.push(at)
    ends.push(end)
  })
  const places = server.admission.limit
  for (let i = 0; i <= places; i += 1) server.arrive(1)
  server.at(10, () => ends[0]?.())
  server.arrive(10)
  server.run(20)
  expect(begun).toEqual(Array(places + 1).fill(1))
})

test('while a request hangs it reports once a second, and stops when that has ended', () => {
  const reports: number[] = []
  const server: VirtualServer = new VirtualServer(
    {},
    (self, end) => self.at(self.now + 5000, end),
    () => reports.push(server.now),
  )
  server.arrive(0)
  server.run(60_000)
  expect(reports.length).toBeGreaterThan(3)
  expect(reports.length).toBeLessThan(8)
  expect(reports.at(-1)).toBeLessThan(7000)
})

test('behind more important ones a request waits longer than a short queue, up to the time that requests take', () => {
  const query = database(20, () => 1000)
  const server = played(
    (self, end) => query(self, end),
    [
      { perSecond: 16, from: 0, to: 60_000, draw: () => ({ importance: CRITICAL }) },
      { perSecond: 40, from: 20_000, to: 60_000, draw: () => ({ importance: NORMAL }) },
    ],
    { classes: CLASSES, maxWaitMs: 5000 },
  )
  const normal = shed(of(server, ({ at, importance }) => at > 40_000 && importance === NORMAL))
  // The queue of that length takes 300 ms.
  expect(Math.max(...normal.map(({ latencyMs }) => latencyMs))).toBeGreaterThan(600)
})
