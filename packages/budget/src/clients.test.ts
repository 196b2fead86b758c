import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  jest,
  test,
} from '@jest/globals'
import { memoryStore } from '@sluice/core'
import { manualClock } from '@sluice/core/testing'
import { until } from '@sluice/test-harness/redis'
import { embed, generateText, streamText, wrapLanguageModel } from 'ai'
import OpenAI from 'openai'
import { type Budget, BudgetError, type BudgetOptions, createBudget } from './index.ts'
import { type ModelServer, startModelServer } from './testing/model-server.ts'

const who = { key: 'blue', team: 'core' }
/** Millionths of a dollar for a token: 10 of input, 1 of what was cached, 50 of output. */
const COST = (60 * 10 + 40 + 20 * 50) / 1_000_000

let model: ModelServer
let budget: Budget<'key' | 'team'>
let sent: jest.Mock<typeof fetch>

beforeAll(async () => {
  model = await startModelServer()
})
afterAll(() => model.close())
beforeEach(() => {
  model.asked.length = 0
  model.fails = {}
  sent = jest.fn<typeof fetch>((...given) => fetch(...given))
  budget = budgetOf(1)
})
afterEach(() => budget.close())

function budgetOf(dollars: number, options: Partial<BudgetOptions> = {}) {
  return createBudget({
    ...options,
    unit: 'usd',
    window: 'month',
    levels: { key: dollars, team: 100 },
    maxOutput: 100,
    price: ({ model: name, input, output, cached }) =>
      name === 'large' ? (10 * (input - cached) + cached + 50 * output) / 1_000_000 : undefined,
  })
}

const spent = async () => (await budget.usage(who)).levels[1]?.used as number
const settled = (cost: number) =>
  until(async () => (await spent()) === cost, { what: `${cost} are charged` })

describe('the client of OpenAI', () => {
  const client = (to = budget) =>
    new OpenAI({
      apiKey: 'k',
      baseURL: `${model.url}/v1`,
      fetch: to.fetch(who, sent),
      maxRetries: 2,
    })
  const messages = [{ role: 'user', content: 'one two three' }] as const

  test('charges what an answer has used', async () => {
    const answer = await client().chat.completions.create({
      model: 'large',
      messages: [...messages],
    })
    expect(answer.usage?.completion_tokens).toBe(20)
    expect(await spent()).toBe(COST)
    expect(model.asked[0]).toMatchObject({ max_completion_tokens: 100 })
  })

  test('charges a stream, whose usage it asks for and keeps back', async () => {
    const stream = await client().chat.completions.create({
      model: 'large',
      messages: [...messages],
      stream: true,
      max_tokens: 30,
    })
    const chunks = []
    for await (const chunk of stream) chunks.push(chunk)
    expect(chunks.every(({ choices }) => choices.length === 1)).toBe(true)
    expect(chunks).toHaveLength(22)
    expect(model.asked[0]).toMatchObject({
      max_tokens: 30,
      stream_options: { include_usage: true },
    })
    expect(model.asked[0]).not.toHaveProperty('max_completion_tokens')
    await settled(COST)
  })

  test('passes on each event of a stream at once, whatever ends its lines', async () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const headers = { 'content-type': 'text/event-stream' }
    const paid = budget.fetch(who, async () => new Response(readable, { headers }))
    const body = JSON.stringify({ model: 'large', stream: true, max_tokens: 5, messages })
    const response = await paid(`${model.url}/v1/chat/completions`, { method: 'POST', body })
    const events: string[] = []
    const read = response.body
      ?.pipeThrough(new TextDecoderStream())
      .pipeTo(new WritableStream({ write: (event) => void events.push(event) }))
    const writer = writable.getWriter()
    const sent = [
      'data: {}\n\n',
      ': still there\n\n',
      'event: a\r\nid: 1\r\ndata: 1\r\ndata: 2\r\n\r\n',
    ]
    for (const [i, event] of sent.entries()) {
      await writer.write(new TextEncoder().encode(event))
      await until(() => events.length === i + 1, { what: 'the event has arrived' })
    }
    await writer.write(new TextEncoder().encode('data: an end'))
    await writer.close()
    await read
    const last = 'id: 1\nevent: a\ndata: 1\ndata: 2\n\n'
    expect(events).toEqual([...sent.slice(0, 2), last, 'data: an end\n\n'])
  })

  test('passes on the usage of a stream that asks for it', async () => {
    const options = { stream: true, stream_options: { include_usage: true } } as const
    const stream = await client().chat.completions.create({
      model: 'large',
      messages: [...messages],
      ...options,
    })
    let last: unknown
    for await (const { usage } of stream) last = usage
    expect(last).toMatchObject({ completion_tokens: 20 })
    await settled(COST)
  })

  test.each([true, false])('charges the API of responses, stream: %s', async (stream) => {
    const answer = await client().responses.create({
      model: 'large',
      input: 'one two three',
      stream,
    })
    if (stream) for await (const _ of answer as AsyncIterable<unknown>);
    await settled(COST)
    expect(model.asked[0]).toMatchObject({ max_output_tokens: 100 })
  })

  test('charges embeddings, which have no output', async () => {
    await client().embeddings.create({
      model: 'large',
      input: 'one two three',
      encoding_format: 'float',
    })
    expect(await spent()).toBe(0.001)
  })

  test.each([1, 20])(
    'a stream that its reader leaves after %i tokens costs its estimate, each time',
    async (most) => {
      let paced = 0
      const silent = await startModelServer({ input: 100, output: 21 }, () =>
        paced++ % 21 < most ? Promise.resolve() : new Promise(() => {}),
      )
      const openai = new OpenAI({
        apiKey: 'k',
        baseURL: `${silent.url}/v1`,
        fetch: budget.fetch(who, sent),
      })
      const estimate = await budget.fits(who, { model: 'large', output: 60, input: 0 })
      for (let i = 1; i < 4; i += 1) {
        paced = 0
        const stream = await openai.chat.completions.create({
          model: 'large',
          messages: [...messages],
          stream: true,
          max_tokens: 60,
        })
        let tokens = 0
        for await (const { choices } of stream) {
          tokens += Number(choices[0]?.delta.content === 'word ')
          if (tokens === most) break
        }
        expect(tokens).toBe(most)
        await until(async () => (await spent()) >= i * estimate.cost, { what: 'it is charged' })
      }
      await silent.close()
    },
  )

  test('a stream that its reader leaves at [DONE] costs what it has used', async () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const headers = { 'content-type': 'text/event-stream' }
    const paid = budget.fetch(who, async () => new Response(readable, { headers }))
    const body = JSON.stringify({ model: 'large', stream: true, max_tokens: 100, messages })
    const response = await paid(`${model.url}/v1/chat/completions`, { method: 'POST', body })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const writer = writable.getWriter()
    const usage =
      '{"prompt_tokens":100,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":40}}'
    for (const data of [
      '{"choices":[{"delta":{},"finish_reason":"stop"}]}',
      `{"choices":[],"usage":${usage}}`,
      '[DONE]',
    ])
      void writer.write(new TextEncoder().encode(`data: ${data}\n\n`))
    let text = ''
    while (!text.includes('[DONE]')) text += new TextDecoder().decode((await reader.read()).value)
    // The connection stays open.
    await reader.cancel()
    await settled(COST)
  })

  test('a month that ends during streams has their estimates; the next one what they used more', async () => {
    budget.close()
    const clock = manualClock(Date.UTC(2026, 0, 31, 23, 59))
    const store = memoryStore({ clock })
    budget = budgetOf(1, { store, hold: '1h' })
    const begin = (most: number) =>
      client().chat.completions.create({
        model: 'large',
        messages: [...messages],
        stream: true,
        max_tokens: most,
      })
    const large = await begin(60)
    const largest = await spent()
    const small = await begin(20)
    const estimate = (await spent()) - largest
    expect([largest > COST, estimate < COST]).toEqual([true, true])
    clock.advance(120_000)
    expect(await spent()).toBe(0)
    for await (const _ of large);
    for await (const _ of small);
    await settled(Math.round((COST - estimate) * 1e6) / 1e6)
    store.close()
  })

  test('a stream that breaks costs its estimate', async () => {
    model.fails = { after: 5 }
    const stream = await client().chat.completions.create({
      model: 'large',
      messages: [...messages],
      stream: true,
      max_tokens: 60,
    })
    await expect(
      (async () => {
        for await (const _ of stream);
      })(),
    ).rejects.toThrow()
    await until(async () => (await spent()) >= 0.003, { what: 'the estimate is charged' })
  })

  test('what the provider refuses costs nothing, each time that the client repeats it', async () => {
    model.fails = { status: 500 }
    await expect(
      client().chat.completions.create({ model: 'large', messages: [...messages] }),
    ).rejects.toThrow()
    expect(model.asked).toHaveLength(3)
    expect(await spent()).toBe(0)
  })

  test('what does not fit is an error at once, and is not sent', async () => {
    budget.close()
    budget = budgetOf(0.003)
    const asked = client().chat.completions.create({ model: 'large', messages: [...messages] })
    await expect(asked).rejects.toMatchObject({ status: 429, code: 'budget_exceeded' })
    await expect(asked).rejects.toThrow('The budget of the key has too little left')
    expect(sent).not.toHaveBeenCalled()
    // A smaller answer fits.
    await client().chat.completions.create({
      model: 'large',
      messages: [...messages],
      max_tokens: 30,
    })
  })

  test('ten answers are reserved as ten, and the larger of two bounds counts', async () => {
    const create = (more: object) =>
      client().chat.completions.create({ model: 'large', messages: [...messages], ...more })
    await expect(create({ n: 10, max_tokens: 4000 })).rejects.toMatchObject({ status: 429 })
    await expect(create({ max_tokens: 1, max_completion_tokens: 40_000 })).rejects.toMatchObject({
      status: 429,
    })
    expect(sent).not.toHaveBeenCalled()
  })

  test('a bound by a name that the provider of this path does not read is none', async () => {
    const body = { model: 'large', messages: [...messages], max_output_tokens: 1 }
    await client().chat.completions.create(body as never)
    expect(model.asked[0]).toMatchObject({ max_completion_tokens: 100 })
    const ask = { model: 'large', input: 'one', max_tokens: 1 }
    await client().responses.create(ask as never)
    expect(model.asked[1]).toMatchObject({ max_output_tokens: 100 })
  })

  test.each([
    { max_tokens: '40000' },
    { max_tokens: -1 },
    { max_tokens: 1, max_completion_tokens: 1e300 },
    { n: '10' },
    { best_of: [10] },
  ])('what may be no bound for the provider is refused: %j', async (more) => {
    const body = { model: 'large', messages: [...messages], ...more }
    const asked = client().chat.completions.create(body as never)
    await expect(asked).rejects.toMatchObject({ status: 400 })
    expect(sent).not.toHaveBeenCalled()
  })

  test.each<[string, unknown, number]>([
    ['text', 'one', 1],
    ['tokens', [1, 2, 3], 1],
    ['several texts', ['one', 'two', 'three'], 3],
    ['several lists of tokens', [[1, 2], [3]], 2],
  ])('a completion of %s is reserved for each of its prompts', async (_, prompt, count) => {
    const kept: number[] = []
    sent.mockImplementation(async () => {
      kept.push(await spent())
      return Response.json({ usage: { prompt_tokens: 1, completion_tokens: 1 } })
    })
    await client().completions.create({ model: 'large', prompt: prompt as string, max_tokens: 60 })
    expect(Math.round((kept[0] as number) / 0.003)).toBe(count)
  })

  test('usage without the output costs the estimate', async () => {
    sent.mockImplementation(async () => Response.json({ usage: { prompt_tokens: 3 } }))
    await client().chat.completions.create({ model: 'large', messages: [...messages] })
    expect(await spent()).toBeGreaterThan(0.005)
  })

  test('a model without a price, and what no budget knows, are refused, not free', async () => {
    const emitted = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    await expect(
      client().chat.completions.create({ model: 'new', messages: [...messages] }),
    ).rejects.toMatchObject({ status: 400 })
    await expect(client().images.generate({ model: 'large', prompt: 'a' })).rejects.toMatchObject({
      status: 400,
    })
    await expect(client().post('/chat/completions', { body: [] as never })).rejects.toMatchObject({
      status: 400,
    })
    expect(sent).not.toHaveBeenCalled()
    emitted.mockRestore()
  })
})

describe('the client of Anthropic', () => {
  const client = () =>
    new Anthropic({ apiKey: 'k', baseURL: model.url, fetch: budget.fetch(who, sent) })
  const question = {
    model: 'large',
    max_tokens: 50,
    messages: [{ role: 'user' as const, content: 'one two three' }],
  }

  test('charges what an answer has used, cached input too', async () => {
    expect((await client().messages.create(question)).usage.output_tokens).toBe(20)
    expect(await spent()).toBe(COST)
  })

  test('charges a stream', async () => {
    const message = await client().messages.stream(question).finalMessage()
    expect(message.usage).toMatchObject({ input_tokens: 60, output_tokens: 20 })
    await settled(COST)
  })

  test('what does not fit is an error at once', async () => {
    budget.close()
    budget = budgetOf(0.001)
    await expect(client().messages.create(question)).rejects.toMatchObject({ status: 429 })
    expect(sent).not.toHaveBeenCalled()
  })
})

describe('the AI SDK', () => {
  const openai = () => createOpenAI({ apiKey: 'k', baseURL: `${model.url}/v1` })
  const wrapped = (api: 'chat' | 'responses' = 'chat') =>
    wrapLanguageModel({ model: openai()[api]('large'), middleware: budget.aiSdk(who) })
  const prompt = 'one two three'

  test.each(['chat', 'responses'] as const)('charges what %s has used', async (api) => {
    const { usage } = await generateText({ model: wrapped(api), prompt })
    expect(usage.outputTokens).toBe(20)
    expect(await spent()).toBe(COST)
    expect(Object.values(model.asked[0] ?? {})).toContain(100)
  })

  test.each(['chat', 'responses'] as const)('charges a stream of %s', async (api) => {
    const { textStream } = streamText({ model: wrapped(api), prompt })
    let text = ''
    for await (const part of textStream) text += part
    expect(text).toBe('word '.repeat(20))
    await settled(COST)
  })

  test('a stream that its reader aborts at the last token costs its estimate', async () => {
    const abort = new AbortController()
    const { textStream } = streamText({
      model: wrapped(),
      prompt,
      maxOutputTokens: 60,
      abortSignal: abort.signal,
    })
    const estimate = await budget.fits(who, { model: 'large', output: 60, input: 0 })
    let text = ''
    for await (const part of textStream) {
      text += part
      if (text.length === 'word '.length * 20) abort.abort()
    }
    await until(async () => (await spent()) >= estimate.cost, { what: 'the estimate is charged' })
  })

  test.each([2, 200])(
    'a stream that ends early with %i tokens of its usage costs its estimate, or that if it is more',
    async (completion_tokens) => {
      const usage = { prompt_tokens: 5, completion_tokens }
      const chunk = { model: 'large', choices: [{ index: 0, delta: { content: 'word' } }], usage }
      const headers = { 'content-type': 'text/event-stream' }
      const provider = async () => new Response(`data: ${JSON.stringify(chunk)}\n\n`, { headers })
      const cut = createOpenAI({ apiKey: 'k', fetch: provider }).chat('large')
      const middleware = budget.aiSdk(who)
      const given = wrapLanguageModel({ model: cut, middleware })
      const { textStream } = streamText({ model: given, prompt, maxOutputTokens: 60 })
      const estimate = await budget.fits(who, { model: 'large', output: 60, input: 0 })
      const least = Math.max(estimate.cost, (5 * 10 + completion_tokens * 50) / 1e6)
      let text = ''
      for await (const part of textStream) text += part
      expect(text).toBe('word')
      await until(async () => (await spent()) >= least, { what: 'it is charged' })
    },
  )

  test('what does not fit rejects, with the level and what would fit', async () => {
    budget.close()
    budget = budgetOf(0.003)
    const failing = generateText({ model: wrapped(), prompt })
    await expect(failing).rejects.toBeInstanceOf(BudgetError)
    await expect(failing).rejects.toMatchObject({
      code: 'SLUICE_BUDGET',
      decision: { level: 'key', remaining: 0.003 },
    })
    expect(model.asked).toHaveLength(0)
    await generateText({ model: wrapped(), prompt, maxOutputTokens: 30 })
  })

  test('what the provider refuses costs nothing', async () => {
    model.fails = { status: 400 }
    await expect(generateText({ model: wrapped(), prompt })).rejects.toThrow()
    expect(await spent()).toBe(0)
  })

  test.each<[string, ModelServer['fails']]>([
    ['can not be read', { status: 200 }],
    ['breaks', { after: 5 }],
  ])('an answer that %s costs its estimate', async (_, fails) => {
    model.fails = fails
    const ask = { model: wrapped(), prompt, maxOutputTokens: 60, maxRetries: 0 }
    await expect(generateText(ask)).rejects.toMatchObject({ statusCode: 200 })
    expect(await spent()).toBeGreaterThan(0.003)
  })

  test('an agent that runs away ends: its run has so many calls, and so much money', async () => {
    const run = budget.run({ id: 'agent-1', max: '1 USD', maxCalls: 3 })
    const middleware = run.aiSdk(who)
    const agent = wrapLanguageModel({ model: openai().chat('large'), middleware })
    let calls = 0
    const loop = async () => {
      for (;;) {
        await generateText({ model: agent, prompt })
        calls += 1
      }
    }
    await expect(loop()).rejects.toMatchObject({ decision: { level: 'calls' } })
    expect(calls).toBe(3)
  })

  test('version 5 reports its usage without details', async () => {
    const { wrapGenerate } = budget.aiSdk(who)
    const usage = { inputTokens: 100, outputTokens: 20, cachedInputTokens: 40 }
    const options = { params: { prompt: [] }, model: { modelId: 'large' } }
    await wrapGenerate({ ...options, doGenerate: async () => ({ usage }) })
    expect(await spent()).toBe(COST)
  })

  test('embed has no language model: its client has the fetch', async () => {
    const { textEmbeddingModel } = createOpenAI({
      apiKey: 'k',
      baseURL: `${model.url}/v1`,
      fetch: budget.fetch(who),
    })
    await embed({ model: textEmbeddingModel('large'), value: prompt })
    expect(await spent()).toBe(0.001)
  })
})

describe.each([
  ['fetch', 0],
  ['fetch', 1],
  ['aiSdk', 0],
  ['aiSdk', 4],
])('a stream of %s that its reader leaves after %i parts', (kind, read) => {
  let silent: ModelServer
  beforeEach(async () => {
    let token = 0
    // The AI SDK waits for the first token. After it, the model says nothing.
    const pace = () => (token++ === 0 ? Promise.resolve() : new Promise(() => {}))
    silent = await startModelServer(undefined, pace)
  })
  afterEach(() => silent.close())

  test('leaves the provider at once, and costs its estimate', async () => {
    budget.close()
    const clock = manualClock(Date.UTC(2026, 0, 1))
    const store = memoryStore({ clock })
    budget = budgetOf(1, { store, hold: '1h' })
    const baseURL = `${silent.url}/v1`
    const chat = async (): Promise<ReadableStream<unknown>> => {
      const messages = [{ role: 'user', content: 'one two three' }]
      const body = JSON.stringify({ model: 'large', messages, stream: true, user: 'ada' })
      const init = { method: 'POST', body }
      return (await budget.fetch(who)(`${baseURL}/chat/completions`, init)).body as ReadableStream
    }
    const generated = async (): Promise<ReadableStream<unknown>> => {
      const chatModel = createOpenAI({ apiKey: 'k', baseURL }).chat('large')
      const wrapped = wrapLanguageModel({ model: chatModel, middleware: budget.aiSdk(who) })
      const content = [{ type: 'text' as const, text: 'one two three' }]
      const providerOptions = { openai: { user: 'ada' } }
      return (await wrapped.doStream({ prompt: [{ role: 'user', content }], providerOptions }))
        .stream
    }
    const reader = (await (kind === 'fetch' ? chat() : generated())).getReader()
    for (let i = 0; i < read; i += 1) await reader.read()
    // This read waits until the reader leaves.
    if (read > 0) void reader.read()
    await reader.cancel()
    const left = () => (silent.bills.get('ada')?.left ?? 0) > 0
    await until(async () => left(), { what: 'the connection to the provider is closed' })
    const estimate = await spent()
    expect(estimate).toBeGreaterThan(0.005)
    // What is still reserved would be given back now.
    clock.advance(7_200_000)
    expect(await spent()).toBe(estimate)
    store.close()
  })
})
