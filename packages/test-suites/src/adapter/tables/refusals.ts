import type { Decision } from '@sluice/core'
import { expect } from 'expect'
import { sendRaw } from '../client.ts'
import { eventually } from '../eventually.ts'
import { warned } from '../warnings.ts'
import type { World } from '../world.ts'

const ONCE = { limit: 1, window: '1m', algorithm: 'fixed-window' } as const
const TYPES = 'https://iana.org/assignments/http-problem-types#'

/** The response of a refusal. */
export function refusalTests(world: World): void {
  const { test } = world
  test('the body of a 429, byte for byte', async () => {
    const site = await world.start({
      policies: [
        { name: 'burst', ...ONCE },
        { name: 'daily', limit: 1000, window: '1d' },
      ],
    })
    const [, refused] = await site.sendTimes(2)
    expect(refused?.status).toBe(429)
    expect(refused?.field('Content-Type')).toMatch(/^application\/problem\+json(;|$)/)
    expect(refused?.body).toBe(
      `{"type":"${TYPES}quota-exceeded","title":"Quota Exceeded","status":429,` +
        '"violated-policies":["burst"]}',
    )
    expect(refused?.field('Content-Length')).toBe(`${refused?.body.length}`)
    expect(site.decisions).toHaveLength(1)
  })

  test('a ban refuses everything with 429, its own problem type and the true Retry-After', async () => {
    const ban = { after: 2, within: '1h', for: ['10m'] } as const
    const began: unknown[] = []
    const onDecision = (decision: Decision) => began.push(decision.ban?.began)
    const site = await world.start({
      ...ONCE,
      statusCode: 503,
      retryAfterJitter: 0,
      refusalCache: false,
      ban,
      onDecision,
    })
    const replies = await site.sendTimes(4)
    expect(replies.map(({ status }) => status)).toEqual([200, 503, 429, 429])
    expect(began).toEqual([undefined, undefined, true, false])
    for (const banned of replies.slice(2)) {
      expect(banned.body).toBe(
        `{"type":"${TYPES}abnormal-usage-detected","title":"Abnormal Usage Detected",` +
          '"status":429,"violated-policies":["default"]}',
      )
      expect([599, 600]).toContain(banned.seconds('Retry-After'))
      expect(banned.field('RateLimit')).toBe(`"default";r=0;t=${banned.field('Retry-After')}`)
      expect(banned.field('RateLimit-Policy')).toBe(replies[0]?.field('RateLimit-Policy'))
    }
  })

  for (const [statusCode, type, title] of [
    [402, `${TYPES}quota-exceeded`, 'Quota Exceeded'],
    [403, 'about:blank', 'Forbidden'],
    [404, 'about:blank', 'Not Found'],
    [503, `${TYPES}temporary-reduced-capacity`, 'Temporary Reduced Capacity'],
  ] as const)
    test(`with statusCode ${statusCode} the response and its body say so`, async () => {
      const site = await world.start({ ...ONCE, statusCode })
      const [, refused] = await site.sendTimes(2)
      expect(refused?.status).toBe(statusCode)
      expect(JSON.parse(refused?.body as string)).toEqual({
        ...{ type, title, status: statusCode },
        // Those that do not say why name no policy either.
        ...(type !== 'about:blank' && { 'violated-policies': ['default'] }),
      })
      expect(refused?.seconds('Retry-After')).toBeGreaterThanOrEqual(60)
    })

  test('HEAD is refused with the same fields and no body', async () => {
    const site = await world.start({ ...ONCE, limit: 0 })
    const get = await site.send()
    const head = await site.send({ method: 'HEAD' })
    expect(head.status).toBe(429)
    expect(head.limitFields()).toEqual(get.limitFields())
    for (const name of ['Content-Type', 'Content-Length', 'Cache-Control'])
      expect([name, head.field(name)]).toEqual([name, get.field(name)])

    const request = 'HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
    const [fields, ...rest] = (await sendRaw(site.target, request)).split('\r\n\r\n')
    expect(fields).toMatch(/^HTTP\/1\.1 429 /)
    expect(rest.join('')).toBe('')
  })

  test('nothing of the response identifies the client', async () => {
    const site = await world.start({ ...ONCE, key: 'user' })
    const headers = { 'x-user': 'alice@example.org' }
    const [, byUser] = await site.sendTimes(2, { headers })
    const [, byAddress] = await site.sendTimes(2)
    expect(site.keys).toContain('user:alice@example.org')
    for (const reply of [byUser, byAddress]) {
      const text = JSON.stringify([reply?.limitFields(), reply?.body])
      expect(reply?.status).toBe(429)
      expect(text).not.toMatch(/alice|127\.0\.0\.1|sluice|redis|memory|t\d+-\d+/i)
    }
  })

  test('a refusal must not be cached; of other responses Cache-Control stays', async () => {
    const site = await world.start(ONCE, { fields: { 'Cache-Control': 'max-age=60' } })
    const [served, refused] = await site.sendTimes(2)
    expect(served?.all('Cache-Control')).toEqual(['max-age=60'])
    expect(refused?.all('Cache-Control')).toEqual(['no-store'])
  })

  test('all policies, but of RateLimit only those that refused', async () => {
    const site = await world.start({
      policies: [
        { name: 'burst', ...ONCE },
        { name: 'daily', limit: 1000, window: '1d' },
      ],
    })
    const [, refused] = await site.sendTimes(2)
    expect(refused?.field('RateLimit-Policy')).toBe('"burst";q=1;w=60, "daily";q=1000;w=86400')
    expect(refused?.field('RateLimit')).toMatch(/^"burst";r=0;t=\d+$/)
    expect(refused?.all('Retry-After')).toHaveLength(1)
  })

  test('respond writes the refusal; the status and the fields are set already', async () => {
    const site = await world.start({
      ...ONCE,
      statusCode: 503,
      respond: ({ limit, retryAfterMs }, { url }, response) =>
        response.send(`${url}: ${limit} a minute, wait ${retryAfterMs} ms`),
    })
    const [served, refused] = await site.sendTimes(2)
    expect([served?.status, served?.body]).toEqual([200, 'served'])
    expect([refused?.status, refused?.body]).toEqual([503, '/: 1 a minute, wait 60000 ms'])
    expect(refused?.field('RateLimit-Policy')).toBe('"default";q=1;w=60')
    expect(refused?.seconds('Retry-After')).toBeGreaterThanOrEqual(60)
    expect(refused?.field('Cache-Control')).toBe('no-store')
    expect(refused?.field('Content-Type') ?? '').not.toMatch(/problem/)
  })

  test("respond: 'throw' hands the refusal to the error handler", async () => {
    const site = await world.start({ ...ONCE, respond: 'throw' })
    await site.sendTimes(2)
    expect(site.decisions).toHaveLength(1)
    expect(site.errors).toEqual([
      expect.objectContaining({
        name: 'RateLimitError',
        status: 429,
        statusCode: 429,
        decision: expect.objectContaining({ allowed: false, retryAfterMs: 60_000 }),
        headers: expect.objectContaining({
          'Retry-After': expect.stringMatching(/^6\d$/),
          'Cache-Control': 'no-store',
        }),
      }),
    ])
  })

  test("respond: 'continue' lets a refused request go on: it is marked, and not charged", async () => {
    const options = {
      limit: 10,
      window: '1m',
      algorithm: 'fixed-window',
      headers: 'draft-11',
    } as const
    const settled: unknown[] = []
    const cost = ({ headers }: { headers: Record<string, unknown> }) => Number(headers['x-cost'])
    const settle = () => void settled.push(1)
    const site = await world.start({ ...options, cost, settle, respond: 'continue' })
    await site.send({ headers: { 'x-cost': '7' } })
    const marked = await site.send({ headers: { 'x-cost': '4' } })
    expect([marked.status, marked.body]).toEqual([200, 'served'])
    expect(site.decisions.map((each) => each?.allowed)).toEqual([true, false])
    expect(marked.field('RateLimit')).toBe('"default";r=3;t=60')
    expect(marked.field('Retry-After')).toBeUndefined()
    const fitting = await site.send({ headers: { 'x-cost': '3' } })
    expect([fitting.status, fitting.remaining]).toEqual([200, 0])
    await eventually('the others are settled', async () => settled.length >= 2)
    expect([settled.length, site.decisions[2]?.allowed]).toEqual([2, true])
  })

  test("respond: 'continue' is for what policies refuse, not for clients on deny", async () => {
    const site = await world.start({ ...ONCE, deny: ['127.0.0.1'], respond: 'continue' })
    const denied = await site.send()
    expect([denied.status, site.decisions]).toEqual([403, []])
    expect(denied.field('Content-Type')).toMatch(/^application\/problem\+json/)
  })

  test('a second limiter decides on a request that the first has let go on', async () => {
    const first = { ...ONCE, headers: 'draft-11', respond: 'continue' } as const
    const site = await world.start([first, { ...ONCE, headers: 'draft-11', limit: 2 }])
    const [, marked, refused] = await site.sendTimes(3)
    expect(marked?.field('RateLimit')).toMatch(/^"default";r=0;t=\d+, "default-2";r=0;t=\d+$/)
    expect(refused?.status).toBe(429)
    expect(refused?.field('RateLimit')).toMatch(/^"default-2";r=0;t=\d+$/)
    expect(JSON.parse(refused?.body as string)['violated-policies']).toEqual(['default-2'])
  })

  const returned: Record<string, unknown> = {
    'an object': { error: 'slow down' },
    text: 'slow down',
  }
  for (const [what, result] of Object.entries(returned))
    test(`${what} that respond returns is sent`, async () => {
      const site = await world.start({ ...ONCE, respond: () => result })
      const [, refused] = await site.sendTimes(2)
      expect(refused?.status).toBe(429)
      expect(refused?.body).toContain('slow down')
      expect(refused?.seconds('Retry-After')).toBeGreaterThanOrEqual(60)
      if (what === 'text') return
      expect(JSON.parse(refused?.body as string)).toEqual(result)
      expect(refused?.field('Content-Type')).toMatch(/^application\/json/)
    })

  test('a Response that respond returns is sent; its 200 is the status of the refusal', async () => {
    const statuses = [undefined, 418]
    const respond = () =>
      new Response('{"slow":"down"}', {
        status: statuses.shift() ?? 200,
        headers: { 'X-Own': 'yes', 'Content-Type': 'application/json' },
      })
    const site = await world.start({ ...ONCE, respond })
    const [, ...refused] = await site.sendTimes(3)
    expect(refused.map(({ status }) => status)).toEqual([429, 418])
    for (const each of refused) {
      expect([each.body, each.field('X-Own')]).toEqual(['{"slow":"down"}', 'yes'])
      expect(each.field('Content-Type')).toMatch(/^application\/json/)
      expect(each.seconds('Retry-After')).toBeGreaterThanOrEqual(60)
    }
  })

  test('a refusal that respond neither sends nor returns gets the default body', async () => {
    const site = await world.start({ ...ONCE, respond: () => undefined })
    const [, refused] = await site.sendTimes(2)
    expect(refused?.status).toBe(429)
    expect(refused?.field('Content-Type')).toMatch(/^application\/problem\+json/)
    expect(JSON.parse(refused?.body as string)).toMatchObject({ title: 'Quota Exceeded' })
    expect(refused?.seconds('Retry-After')).toBeGreaterThanOrEqual(60)
    expect(warned('SLUICE_UNANSWERED')).toBe(1)
  })

  test('the body has the form that the client asks for', async () => {
    const site = await world.start({ ...ONCE, limit: 0 })
    const typeFor = async (Accept: string) => {
      const refused = await site.send({ headers: { Accept } })
      expect(JSON.parse(refused.body)).toMatchObject({ title: 'Quota Exceeded', status: 429 })
      return refused.field('Content-Type')?.split(';')[0]
    }
    expect(await typeFor('application/json')).toBe('application/json')
    expect(await typeFor('Application/JSON, text/plain, */*')).toBe('application/json')
    for (const accept of ['*/*', 'text/html'])
      expect(await typeFor(accept)).toBe('application/problem+json')
    expect(await typeFor('application/json, application/problem+json')).toBe(
      'application/problem+json',
    )
  })

  test('respond may be asynchronous', async () => {
    const respond = async (_: unknown, __: unknown, response: { send(body: string): unknown }) => {
      await new Promise((resolve) => setImmediate(resolve))
      return response.send('slowly')
    }
    const site = await world.start({ ...ONCE, respond })
    const [, refused] = await site.sendTimes(2)
    expect([refused?.status, refused?.body]).toEqual([429, 'slowly'])
    expect(site.decisions).toHaveLength(1)
  })
}
