// What a request asks for besides tokens, and what was never sent.

import { once } from 'node:events'
import { createServer } from 'node:net'
import { createOpenAI } from '@ai-sdk/openai'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { WaitError } from '@sluice/core'
import { generateText, wrapLanguageModel } from 'ai'
import OpenAI from 'openai'
import { type Budget, type BudgetOptions, createBudget, type PricedUsage } from './index.ts'

const who = { key: 'blue' }
const messages = [{ role: 'user' as const, content: 'one two three' }]

let budget: Budget<'key'>
let asked: PricedUsage[]
beforeEach(() => {
  asked = []
  budget = budgetOf()
})
afterEach(() => budget.close())

const PRICES: Record<string, number> = { small: 1, large: 10 }

/** A dollar for a million tokens of the small model, ten for the large one; twice as much for priority. */
function price(usage: PricedUsage) {
  const { model, input, output, service_tier, server_tools, max_tool_calls = 0 } = usage
  asked.push({ ...usage })
  const tokens = ((input + output) * (PRICES[model] ?? Number.NaN)) / 1e6
  const searches = server_tools === undefined ? (usage.web_search_call ?? 0) : max_tool_calls
  return tokens * (service_tier === 'priority' ? 2 : 1) + Number(searches) / 100
}

function budgetOf(options: Partial<BudgetOptions> = {}) {
  const levels = { key: 10 }
  return createBudget({ unit: 'usd', window: 'month', levels, price, ...options }) as Budget<'key'>
}

const spent = async () => (await budget.usage(who)).levels[0]?.used as number

/** Asks for a chat, which the answer says this of. */
async function chat(more: object, answer: object, reserved: number[] = []): Promise<Response> {
  const provider = async () => {
    reserved.push(await spent())
    return Response.json(answer)
  }
  const body = JSON.stringify({ model: 'small', messages, max_tokens: 1000, ...more })
  const url = 'https://api.example/v1/chat/completions'
  return budget.fetch(who, provider)(url, { method: 'POST', body })
}

const usage = { prompt_tokens: 500, completion_tokens: 500, total_tokens: 1000 }

describe('what costs besides tokens', () => {
  test.each<[string, object, object, number]>([
    ['the model that answered', { models: ['large'] }, { model: 'large', usage }, 0.01],
    ['a model whose name has no price', {}, { model: 'small-2026-11-01', usage }, 0.001],
    [
      'a router whose answer has no price: the dearest',
      { models: ['large'] },
      { model: 'new', usage },
      0.01,
    ],
    ['the tier that was asked for', { service_tier: 'priority' }, { usage }, 0.002],
    [
      'the tier that has answered',
      { service_tier: 'priority' },
      { service_tier: 'default', usage },
      0.001,
    ],
    ['a tier of the project', {}, { service_tier: 'priority', usage }, 0.002],
    ['reasoning in the total alone', {}, { usage: { ...usage, total_tokens: 3000 } }, 0.003],
    [
      'searches',
      { tools: [{ type: 'web_search' }], max_tool_calls: 5 },
      { usage, output: [{ type: 'web_search_call' }, { type: 'web_search_call' }] },
      0.021,
    ],
  ])('%s', async (_, more, answer, cost) => {
    const reserved: number[] = []
    const response = await chat(more, answer, reserved)
    expect(response.status).toBe(200)
    expect(await spent()).toBe(cost)
    expect(reserved[0]).toBeGreaterThanOrEqual(0.001)
  })

  test('the estimate has the dearest model, the tier and the tools', async () => {
    const reserved: number[] = []
    const more = { models: ['large', 'small'], service_tier: 'priority' }
    await chat(more, { model: 'small', usage }, reserved)
    expect(reserved[0]).toBeGreaterThan(0.02)
    expect(await spent()).toBe(0.002)
  })

  test('price gets all that the answer says', async () => {
    await chat(
      {},
      {
        model: 'small',
        service_tier: 'flex',
        usage: {
          ...usage,
          cost: 0.5,
          prompt_tokens_details: { cached_tokens: 3, audio_tokens: 4 },
          completion_tokens_details: { reasoning_tokens: 5 },
        },
      },
    )
    expect(asked.at(-1)).toMatchObject({
      model: 'small',
      input: 500,
      output: 500,
      cached: 3,
      service_tier: 'flex',
      cost: 0.5,
      'prompt_tokens_details.audio_tokens': 4,
      'completion_tokens_details.reasoning_tokens': 5,
    })
  })

  test('of Anthropic: the cache by its time, searches, and what compacts the context', async () => {
    const provider = async () =>
      Response.json({
        model: 'small',
        usage: {
          input_tokens: 10,
          output_tokens: 20,
          cache_read_input_tokens: 30,
          cache_creation_input_tokens: 40,
          cache_creation: { ephemeral_1h_input_tokens: 40, ephemeral_5m_input_tokens: 0 },
          server_tool_use: { web_search_requests: 2 },
          service_tier: 'standard',
          iterations: [
            { type: 'message', input_tokens: 10, output_tokens: 20 },
            { type: 'compaction', input_tokens: 100, output_tokens: 200 },
          ],
        },
      })
    const body = JSON.stringify({ model: 'small', messages, max_tokens: 1000 })
    await budget.fetch(who, provider)('https://api.example/v1/messages', { method: 'POST', body })
    expect(asked.at(-1)).toMatchObject({
      input: 180,
      output: 220,
      cached: 30,
      cacheWrite: 40,
      'cache_creation.ephemeral_1h_input_tokens': 40,
      'server_tool_use.web_search_requests': 2,
      service_tier: 'standard',
    })
  })

  test.each<[string, object]>([
    ['a tier', { service_tier: 'priority' }],
    ['a speed', { speed: 'fast' }],
    ['a place', { inference_geo: 'us' }],
    ['sound as output', { modalities: ['text', 'audio'] }],
    ['tools of the provider', { tools: [{ type: 'web_search_20250305', max_uses: 5 }] }],
    ['a plugin of a router', { plugins: [{ id: 'web' }] }],
    ['searches', { web_search_options: {} }],
    ['a model without a price', { models: ['new'] }],
    ['a model of the provider’s choice', { fallbacks: 'default' }],
    ['models that are none', { models: [5, null] }],
  ])('%s that price does not read is refused, and not sent', async (_, more) => {
    const emitted = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    budget.close()
    budget = budgetOf({
      price: ({ model, input, output }) => ((input + output) * (PRICES[model] ?? Number.NaN)) / 1e6,
    })
    const reserved: number[] = []
    const response = await chat(more, { usage }, reserved)
    expect([response.status, reserved]).toEqual([400, []])
    expect(await response.json()).toMatchObject({ error: { message: /No price/ } })
    const harmless = { service_tier: 'auto', speed: 'standard', modalities: ['text'] }
    const tools = [{ type: 'function', function: {} }, { name: 'own', input_schema: {} }, null]
    expect((await chat({ ...harmless, tools }, { usage })).status).toBe(200)
    emitted.mockRestore()
  })

  test('tokens are counted whatever their price', async () => {
    budget.close()
    budget = budgetOf({ unit: 'tokens', price: undefined, levels: { key: 1e6 } })
    expect((await chat({ service_tier: 'priority' }, { usage })).status).toBe(200)
    expect(await spent()).toBe(1000)
  })
})

describe('what was never sent costs nothing', () => {
  const client = (url: string, fetch = budget.fetch(who)) =>
    new OpenAI({ apiKey: 'k', baseURL: url, fetch, maxRetries: 1 })
  const ask = { model: 'small', messages, max_tokens: 1000 }

  /** A port on which nobody listens. */
  async function closedPort(): Promise<number> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    server.close()
    return port
  }

  test('a connection that is refused, and a host that there is not', async () => {
    for (const url of [`http://127.0.0.1:${await closedPort()}`, 'http://nowhere.invalid']) {
      await expect(client(url).chat.completions.create(ask)).rejects.toThrow('Connection error')
      const openai = createOpenAI({ apiKey: 'k', baseURL: url })
      const model = wrapLanguageModel({
        model: openai.chat('small'),
        middleware: budget.aiSdk(who),
      })
      await expect(generateText({ model, prompt: 'one', maxRetries: 1 })).rejects.toThrow()
    }
    expect(await spent()).toBe(0)
  })

  test('a call whose turn does not come within maxWait', async () => {
    const paced = async () => {
      throw new WaitError('SLUICE_WAIT_TOO_LONG', 5000)
    }
    const fetch = budget.fetch(who, paced)
    await expect(
      client('http://model.example', fetch).chat.completions.create(ask),
    ).rejects.toThrow()
    expect(await spent()).toBe(0)
  })

  test('what the AI SDK does not send, because it has no key', async () => {
    const kept = process.env.OPENAI_API_KEY
    delete process.env.OPENAI_API_KEY
    const openai = createOpenAI({ baseURL: 'http://127.0.0.1:9' })
    const model = wrapLanguageModel({ model: openai.chat('small'), middleware: budget.aiSdk(who) })
    await expect(generateText({ model, prompt: 'one' })).rejects.toThrow('key')
    if (kept !== undefined) process.env.OPENAI_API_KEY = kept
    expect(await spent()).toBe(0)
  })

  test('a call that is aborted while the budget is asked', async () => {
    const abort = new AbortController()
    budget.close()
    budget = budgetOf({
      levels: {
        key: async () => {
          abort.abort(new Error('mine'))
          return 10
        },
      },
    })
    const sent = jest.fn<typeof fetch>()
    const body = JSON.stringify(ask)
    const url = 'https://api.example/v1/chat/completions'
    const init = { method: 'POST', body, signal: abort.signal }
    await expect(budget.fetch(who, sent)(url, init)).rejects.toThrow('mine')
    const doGenerate = jest.fn<() => Promise<{ usage: object }>>()
    const params = { prompt: [], abortSignal: abort.signal }
    const model = { modelId: 'small' }
    const generated = budget.aiSdk(who).wrapGenerate({ params, model, doGenerate })
    await expect(generated).rejects.toThrow('mine')
    expect([sent.mock.calls, doGenerate.mock.calls]).toEqual([[], []])
    expect(await spent()).toBe(0)
  })

  test('what is not known costs the estimate: a connection that breaks after the request', async () => {
    const server = createServer((socket) => socket.once('data', () => socket.destroy()))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    await expect(client(`http://127.0.0.1:${port}`).chat.completions.create(ask)).rejects.toThrow()
    server.close()
    expect(await spent()).toBeGreaterThan(0.002)
  })

  test('a call that is cancelled by hand, also of a price for each call', async () => {
    budget.close()
    budget = budgetOf({ price: () => 1 })
    const call = await budget.reserve(who, { model: 'any', output: 1 })
    await call.cancel()
    await call.release()
    expect(await spent()).toBe(0)
  })
})

test('a photo in a request is reserved as a picture', async () => {
  const reserved: number[] = []
  const url = `data:image/jpeg;base64,${Buffer.alloc(3_000_000).toString('base64')}`
  const photo = {
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
  }
  await chat(photo, { usage }, reserved)
  expect(reserved[0]).toBeLessThan(0.0061)
  const seen: unknown[] = []
  const mediaTokens = (media: object) => seen.push(media) && 100_000
  budget.close()
  budget = budgetOf({ mediaTokens })
  await chat(photo, { usage }, reserved)
  expect(reserved[1]).toBeGreaterThan(0.1)
  const prompt = [{ role: 'user', content: [{ type: 'file', mediaType: 'image/jpeg', data: url }] }]
  const params = { prompt, maxOutputTokens: 1 }
  const doGenerate = async () => ({ usage: { inputTokens: await spent(), outputTokens: 0 } })
  await budget.aiSdk(who).wrapGenerate({ params, model: { modelId: 'small' }, doGenerate })
  expect(seen).toHaveLength(2)
})
