import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { isOpenToOthers, type Program, startExample } from '@sluice/test-harness/examples'
import { freePorts, type RedisServer, startRedis, until } from '@sluice/test-harness/redis'
import { folderOf } from './folder-of.ts'

const folder = folderOf('llm-gateway')

let redis: RedisServer

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(async () => {
  await redis?.stop()
})

describe.each(['memory', 'Redis'])('with %s', (store) => {
  let example: Program
  let model: string

  beforeAll(async () => {
    example = await startExample(folder, store === 'Redis' ? { REDIS_URL: redis.url } : {})
    const printed = () => /behind it is (http:\S+);/.exec(example.output())?.[1] ?? ''
    model = await until(printed, { what: 'it has printed where its model is' })
  })
  afterAll(async () => {
    await example?.stop()
  })

  /** @param maxTokens all of them are used, unless the stream is aborted */
  function ask(
    key: string,
    maxTokens: unknown,
    signal?: AbortSignal,
    name = 'large',
  ): Promise<Response> {
    return fetch(`${example.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      body: JSON.stringify({ ...question(maxTokens), model: name }),
      ...(signal && { signal }),
    })
  }

  /** Reads a stream until so many tokens have come, and aborts it. */
  async function readSome(key: string, maxTokens: number, tokens: number): Promise<void> {
    const abort = new AbortController()
    const { body, status } = await ask(key, maxTokens, abort.signal)
    expect(status).toBe(200)
    let text = ''
    for await (const part of body as ReadableStream<Uint8Array>) {
      text += Buffer.from(part)
      if (produced(text) >= tokens) break
    }
    abort.abort()
  }

  async function readAll(key: string, maxTokens: number): Promise<void> {
    const response = await ask(key, maxTokens)
    expect(response.status).toBe(200)
    expect(produced(await response.text())).toBe(maxTokens)
  }

  /** What a caller owes, millionths of a dollar: a thousand for a token of input, ten thousand for one of output. */
  async function billOf(caller: string): Promise<number> {
    const bill = (await (await fetch(`${model}/bill`)).json()) as Record<string, Tokens>
    const { input_tokens = 0, output_tokens = 0 } = bill[caller] ?? {}
    return 1000 * input_tokens + 10_000 * output_tokens
  }

  /** What the budget has counted for a key, its team and the organisation, millionths of a dollar. */
  async function counted(key: string): Promise<number[]> {
    const response = await fetch(`${example.url}/usage`, { headers: { 'x-api-key': key } })
    expect(response.headers.get('cache-control')).toBe('no-store')
    const { levels } = (await response.json()) as { levels: { used: number }[] }
    return levels.map(({ used }) => Math.round(used * 1_000_000))
  }

  test('half of the streams aborted: what was billed is what was counted, to the millionth', async () => {
    const streams = Array.from({ length: 20 }, (_, i) =>
      i % 2 === 0 ? readAll('pro-key', 10 + i) : readSome('pro-key', 400, i),
    )
    await Promise.all(streams)
    await until(
      async () => {
        const billed = await billOf('grace')
        return (await counted('pro-key')).every((each) => each === billed)
      },
      { everyMs: 50, what: 'the bill and the count are the same' },
    )
    const whole = 10 * 10 + 90
    expect(await billOf('grace')).toBeGreaterThanOrEqual(10_000 * (whole + 100))
    expect(await billOf('grace')).toBeLessThan(10_000 * (whole + 10 * 400))
  })

  test('a tier has its own limits: two streams of a free key at the same time', async () => {
    const abort = new AbortController()
    const running = [ask('free-key', 500, abort.signal), ask('free-key', 500, abort.signal)]
    for (const { status } of await Promise.all(running)) expect(status).toBe(200)
    const refused = await ask('free-key', 500)
    expect(refused.status).toBe(429)
    expect(await refused.json()).toMatchObject({ 'violated-policies': ['in-progress'] })
    abort.abort()
    await until(async () => (await ask('free-key', 1)).status === 200, {
      everyMs: 100,
      what: 'the slots of the streams that were aborted are free',
    })
  })

  test('more than a key has is refused, and says what would fit; what the model refuses costs nothing', async () => {
    const refused = await ask('free-key', 2001)
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await refused.json()).toMatchObject({ level: 'key', remaining: expect.any(Number) })
    for (const wrong of [undefined, -5, '100', 1.5]) {
      expect([wrong, (await ask('free-key', wrong)).status]).toEqual([wrong, 400])
    }
    expect((await ask('free-key', 1, undefined, 'another')).status).toBe(400)
    await until(async () => (await billOf('ada')) === (await counted('free-key'))[0], {
      everyMs: 200,
      what: 'the bill and the count are the same',
    })
  })

  test('without a key nothing is served; it listens on loopback', async () => {
    expect((await ask('guessed', 1)).status).toBe(401)
    expect(await isOpenToOthers(example.url)).toBe(false)
  })
})

test('a model that cannot be reached costs nothing, however often it is asked', async () => {
  const [port] = await freePorts(1)
  const example = await startExample(folder, { MODEL_URL: `http://127.0.0.1:${port}` })
  const headers = { 'content-type': 'application/json', 'x-api-key': 'free-key' }
  for (let i = 0; i < 5; i += 1) {
    // Two of these are more than a month has.
    const body = JSON.stringify(question(1200))
    const response = await fetch(`${example.url}/v1/messages`, { method: 'POST', headers, body })
    expect(response.status).toBe(502)
    await response.arrayBuffer()
  }
  const usage = (await (await fetch(`${example.url}/usage`, { headers })).json()) as object
  expect(usage).toMatchObject({ levels: [{ used: 0 }, { used: 0 }, { used: 0 }] })
  await example.stop()
})

test('a connection that breaks after the request costs the reservation: nobody knows what was used', async () => {
  const model = createServer((socket) => socket.once('data', () => socket.destroy()))
  model.listen(0, '127.0.0.1')
  await once(model, 'listening')
  const { port } = model.address() as { port: number }
  const example = await startExample(folder, { MODEL_URL: `http://127.0.0.1:${port}` })
  const headers = { 'content-type': 'application/json', 'x-api-key': 'free-key' }
  const body = JSON.stringify(question(100))
  const response = await fetch(`${example.url}/v1/messages`, { method: 'POST', headers, body })
  expect(response.status).toBe(502)
  const usage = (await (await fetch(`${example.url}/usage`, { headers })).json()) as {
    levels: { used: number }[]
  }
  for (const { used } of usage.levels) expect(used).toBeGreaterThanOrEqual(1)
  await example.stop()
  model.close()
})

interface Tokens {
  readonly input_tokens?: number
  readonly output_tokens?: number
}

const question = (maxTokens: unknown) => ({
  max_tokens: maxTokens,
  messages: [{ role: 'user', content: 'one two three' }],
})

const produced = (text: string) => text.match(/^event: content_block_delta$/gm)?.length ?? 0
