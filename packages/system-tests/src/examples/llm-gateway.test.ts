import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { estimateTokens } from '@sluice/express'
import {
  awayFromEdge,
  isOpenToOthers,
  type Program,
  startExample,
} from '@sluice/test-harness/examples'
import { freePorts, type RedisServer, startRedis, until } from '@sluice/test-harness/redis'
import { folderOf } from './folder-of.ts'

const folder = folderOf('llm-gateway')

const DAY_MS = 86_400_000

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
    await awayFromEdge(DAY_MS, 30_000)
    example = await startExample(folder, store === 'Redis' ? { REDIS_URL: redis.url } : {})
    const printed = () => /behind it is (http:\S+);/.exec(example.output())?.[1] ?? ''
    model = await until(printed, { what: 'it has printed where its model is' })
  })
  afterAll(async () => {
    await example?.stop()
  })

  /** @param maxTokens all of them are used, unless the stream is aborted */
  function ask(key: string, maxTokens: unknown, signal?: AbortSignal): Promise<Response> {
    return fetch(`${example.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      body: JSON.stringify(question(maxTokens)),
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

  async function billOf(caller: string): Promise<{ input_tokens: number; output_tokens: number }> {
    return ((await (await fetch(`${model}/bill`)).json()) as never)[caller]
  }

  /** What the limiter has counted before a request, which costs a token. */
  async function counted(key: string, limits: { input: number; output: number }) {
    const response = await ask(key, 1)
    await response.arrayBuffer()
    const left = (unit: string) =>
      Number(response.headers.get(`anthropic-ratelimit-${unit}-tokens-remaining`))
    return {
      input_tokens: limits.input - left('input') - estimateTokens(question(1)),
      output_tokens: limits.output - left('output') - 1,
    }
  }

  test('half of the streams aborted: what was billed is what was counted, to the token', async () => {
    const streams = Array.from({ length: 20 }, (_, i) =>
      i % 2 === 0 ? readAll('pro-key', 10 + i) : readSome('pro-key', 4000, i),
    )
    await Promise.all(streams)
    const whole = 10 * 10 + 90
    const limits = { input: 2_000_000, output: 1_000_000 }
    await until(
      async () => {
        const billed = await billOf('grace')
        const found = await counted('pro-key', limits)
        return JSON.stringify(found) === JSON.stringify(billed)
      },
      { everyMs: 50, what: 'the bill and the count are the same' },
    )
    const billed = await billOf('grace')
    expect(billed.output_tokens).toBeGreaterThanOrEqual(whole + 100)
    expect(billed.output_tokens).toBeLessThan(whole + 10 * 4000)
  })

  test('a tier has its own limits: two streams of a free key at the same time', async () => {
    const abort = new AbortController()
    const running = [ask('free-key', 500, abort.signal), ask('free-key', 500, abort.signal)]
    for (const { status } of await Promise.all(running)) expect(status).toBe(200)
    const refused = await ask('free-key', 500)
    expect(refused.status).toBe(429)
    expect(await refused.json()).toMatchObject({ 'violated-policies': ['in-progress'] })
    expect(refused.headers.get('retry-after-ms')).not.toBeNull()
    abort.abort()
    await until(async () => (await ask('free-key', 1)).status === 200, {
      everyMs: 100,
      what: 'the slots of the streams that were aborted are free',
    })
  })

  test('more than a tier has is refused; what the model refuses costs no tokens', async () => {
    // The slots of the streams before may still be in use.
    const violated = async () => {
      const problem = (await (await ask('free-key', 10_001)).json()) as Record<string, unknown>
      return `${problem['violated-policies']}`
    }
    await until(async () => (await violated()) === 'output', {
      everyMs: 100,
      what: 'only the tokens are too many',
    })
    for (const wrong of [undefined, -5, '100', 1.5]) {
      expect([wrong, (await ask('free-key', wrong)).status]).toEqual([wrong, 400])
    }
    const limits = { input: 20_000, output: 10_000 }
    await until(
      async () =>
        JSON.stringify(await billOf('ada')) === JSON.stringify(await counted('free-key', limits)),
      { everyMs: 200, what: 'the bill and the count are the same' },
    )
  })

  test('without a key nothing is served; it listens on loopback', async () => {
    expect((await ask('guessed', 1)).status).toBe(401)
    expect(await isOpenToOthers(example.url)).toBe(false)
  })
})

test('a model that cannot be reached costs no tokens, however often it is asked', async () => {
  const [port] = await freePorts(1)
  const example = await startExample(folder, { MODEL_URL: `http://127.0.0.1:${port}` })
  const remaining = []
  for (let i = 0; i < 5; i += 1) {
    const response = await fetch(`${example.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': 'free-key' },
      // Two of these are more than a day has.
      body: JSON.stringify(question(6000)),
    })
    expect(response.status).toBe(502)
    await response.arrayBuffer()
    remaining.push(response.headers.get('anthropic-ratelimit-output-tokens-remaining'))
  }
  expect(remaining).toEqual(Array(5).fill('4000'))
  await example.stop()
})

const question = (maxTokens: unknown) => ({
  max_tokens: maxTokens,
  messages: [{ role: 'user', content: 'one two three' }],
})

const produced = (text: string) => text.match(/^event: content_block_delta$/gm)?.length ?? 0
