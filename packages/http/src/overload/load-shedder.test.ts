import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import type { OverloadEvent } from '@sluice/core'
import { fetchExchange } from '../fetch/fetch-exchange.ts'
import { FetchReply } from '../fetch/fetch-reply.ts'
import type { RequestAdapter } from '../request-adapter.ts'
import { Admission } from './admission.ts'
import { LoadShedder } from './load-shedder.ts'
import type { ShedLoadOptions } from './shed-load-options.ts'

/** So many begin before the process knows how long they take. */
const PLACES = 20

const adapter = {
  ...fetchExchange<Request>(
    (request) => request,
    () => undefined,
  ),
  address: () => undefined,
} as unknown as RequestAdapter<Request, FetchReply>

const events: OverloadEvent[] = []
/** Other load shedders of the process, those of earlier tests, may still report. */
const note = (message: unknown) => {
  const event = message as OverloadEvent
  if (event.limiter === name) events.push(event)
}

let name: string
let now: number
let busy: ReturnType<typeof performance.eventLoopUtilization>
let shedder: LoadShedder<Request, FetchReply>
let begun: FetchReply[]
beforeEach(() => {
  name = `shop ${Math.random()}`
  now = 0
  begun = []
  events.length = 0
  subscribe('sluice:overload', note)
  busy = { active: 0, idle: 0, utilization: 0 }
  jest.spyOn(performance, 'now').mockImplementation(() => now)
  jest.spyOn(performance, 'eventLoopUtilization').mockImplementation(() => busy)
  const queue = { max: 1, maxWait: '1m' } as const
  shedder = new LoadShedder({ name, key: () => 'all', queue }, adapter)
})
afterEach(() => {
  unsubscribe('sluice:overload', note)
  jest.restoreAllMocks()
})

/** Passes a request so many times. */
function handle(passes = 1): FetchReply {
  const request = new Request('http://example.com/')
  const reply = new FetchReply(request)
  for (let i = 1; i <= passes; i += 1) {
    const passed = shedder.handle(request, reply)
    const goOn = (goesOn: boolean) => goesOn && i === passes && begun.push(reply)
    if (passed instanceof Promise) void passed.then(goOn)
    else goOn(passed)
  }
  return reply
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate)
}

test('its events say what has happened since the last one, and whether it sheds at present', async () => {
  for (let i = 0; i <= PLACES; i += 1) handle()
  busy = { active: 30, idle: 70, utilization: 0.3 }
  expect(handle().response?.status).toBe(503)
  const common = { limit: PLACES }
  expect(events).toMatchObject([
    {
      ...{ ...common, shedding: true, signal: 'latency', active: PLACES, waiting: 1 },
      ...{ utilization: 0.3, classes: { default: { admitted: PLACES, waited: 0, shed: 1 } } },
    },
  ])
  busy = { active: 130, idle: 70, utilization: 0.65 }
  for (const each of begun) each.answer(new Response())
  await until(() => begun.length === PLACES + 1)
  begun.at(-1)?.answer(new Response())
  now = 1000
  await until(() => events.length === 3)
  const none = { ...common, active: 0, waiting: 0 }
  expect(events.slice(1)).toMatchObject([
    {
      ...{ ...none, shedding: true, utilization: 1 },
      classes: { default: { admitted: 1, waited: 1, shed: 0 } },
    },
    {
      ...{ ...none, shedding: false, signal: undefined },
      classes: { default: { admitted: 0, waited: 0, shed: 0 } },
    },
  ])
})

test('its first event does not count what was before anybody listened', async () => {
  unsubscribe('sluice:overload', note)
  const taken = jest.spyOn(Admission.prototype, 'takeCounts')
  handle().answer(new Response())
  now = 1000
  const counts = () => taken.mock.results as { value: ReturnType<Admission['takeCounts']> }[]
  await until(() => counts().some(({ value }) => value.default?.admitted === 1))
  subscribe('sluice:overload', note)
  handle().answer(new Response())
  now = 2000
  await until(() => events.length > 0)
  expect(events[0]).toMatchObject({ classes: { default: { admitted: 1 } } })
})

test('clients come back spread over more time the longer requests have been shed', () => {
  jest.spyOn(Math, 'random').mockReturnValue(0.9999)
  for (let i = 0; i <= PLACES; i += 1) handle()
  const waits = [0, 20_000, 60_000].map((at) => {
    now = at
    return handle().response?.headers.get('Retry-After')
  })
  expect(waits).toEqual(['3', '23', '30'])
})

test('an adapter that sends what is thrown gets the refusal, with its fields', async () => {
  const send: typeof adapter.send = (_response, _body, _mediaType, toError) => {
    throw toError()
  }
  const throwing = { ...adapter, send }
  shedder = new LoadShedder({ name, key: () => 'all', queue: { max: 1, maxWait: '1m' } }, throwing)
  for (let i = 0; i <= PLACES; i += 1) handle()
  const headers = expect.objectContaining({ 'Retry-After': expect.any(String) })
  expect(() => handle()).toThrow(expect.objectContaining({ status: 503, headers }))
  // The one that waits would be refused during a later test.
  for (const each of begun) each.answer(new Response())
  await until(() => begun.length === PLACES + 1)
})

test('requests are of one kind by their route, or else by their class', async () => {
  // The loop of control needs time that passes.
  jest.restoreAllMocks()
  const route = (request: Request) => (request.url.endsWith('/known') ? '/known' : undefined)
  const classes = { critical: {}, normal: {} }
  const classOf = ({ url }: Request) => (url.includes('critical') ? 'critical' : 'normal')
  const many = new LoadShedder({ classes, classOf, key: () => 'all' }, { ...adapter, route })
  const handleAt = (path: string) => {
    const request = new Request(`http://example.com/${path}`)
    const reply = new FetchReply(request)
    many.handle(request, reply)
    return reply
  }
  // The loop of control goes on while one is open.
  const open = handleAt('open')
  const { admission } = many
  // It learns nothing from an interval in which the machine was too busy.
  await until(() => {
    for (const path of ['critical', 'normal', 'critical/known', 'known'])
      handleAt(path).answer(new Response())
    return admission.control.usual.size >= 3
  })
  expect([...admission.control.usual.keys()].sort()).toEqual(['/known', 'critical', 'normal'])
  open.answer(new Response())
})

test('a request that passes it twice has one place', () => {
  for (let i = 0; i < PLACES; i += 1) handle(2)
  expect(begun).toHaveLength(PLACES)
})

test('what classOf returns is a class, or the request is in the last one and it warns', () => {
  const entered = jest.spyOn(Admission.prototype, 'enter')
  const warned = jest.spyOn(process, 'emitWarning').mockReturnValue()
  const classOf = ({ url }: Request) => url.slice('http://example.com/'.length) as 'normal'
  const classes = { critical: {}, normal: {} }
  const many = new LoadShedder({ classes, classOf, key: () => 'all' }, adapter)
  for (const path of ['critical', 'normal', 'unknown', 'critical'])
    many.handle(new Request(`http://example.com/${path}`), new FetchReply(new Request('http://x')))
  expect(entered.mock.calls.map(([importance]) => importance)).toEqual([0, 1, 1, 0])
  expect(warned).toHaveBeenCalledTimes(1)
  expect(warned).toHaveBeenCalledWith(
    expect.stringMatching(/^classOf returned 'unknown', .* in the last one, 'normal'/),
    expect.objectContaining({ code: 'SLUICE_CLASS_UNKNOWN' }),
  )
})

const classOf = () => 'a'
test.each<[string, string, object]>([
  ['several classes without classOf', 'classOf', { classes: { a: {}, b: {} } }],
  ['classOf without classes', 'classes', { classOf }],
  ['no class', 'classes', { classes: {} }],
  ['17 classes', 'classes', { classOf, classes: Object.fromEntries(letters(17)) }],
  ['a class whose place would be another one', 'classes', { classOf, classes: { a: {}, 1: {} } }],
  ['a name that a header cannot have', 'classes', { classOf, classes: { é: {}, a: {} } }],
  ['an option that a class does not have', 'classes.a.share', { classes: { a: { share: 1 } } }],
  ['a share above 1', 'classes.a.reserve', { classes: { a: { reserve: 1.1 } } }],
  [
    'shares above 1 together',
    'classes',
    { classOf, classes: { a: { reserve: 0.6 }, b: { reserve: 0.5 } } },
  ],
  ['a queue that is too long', 'queue.max', { queue: { max: 100_001 } }],
  ['a wait that is too long', 'queue.maxWait', { queue: { maxWait: '61s' } }],
  ['an option of the queue that it does not have', 'queue.wait', { queue: { wait: 1 } }],
])('%s is a wrong option', (_, option, options) => {
  const create = () => new LoadShedder(options as ShedLoadOptions<Request, string>, adapter)
  expect(create).toThrow(expect.objectContaining({ option }))
})

test.each<ShedLoadOptions<Request, string>>([
  { classOf, classes: Object.fromEntries(letters(16)) },
  { classOf, classes: { a: { reserve: 0.6 }, b: { reserve: 0.4 } } },
  { queue: { max: 100_000, maxWait: '1m' } },
])('options at their bounds are none', (options) => {
  expect(() => new LoadShedder(options, adapter)).not.toThrow()
})

function letters(count: number): [string, object][] {
  return Array.from({ length: count }, (_, i) => [String.fromCharCode(97 + i), {}])
}
