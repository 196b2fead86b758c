// Agents that never stop calling tools, several at a time, until their run ends.

import { createOpenAI } from '@ai-sdk/openai'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import {
  Agent,
  tool as agentTool,
  OpenAIProvider,
  Runner,
  setTracingDisabled,
  ToolCallError,
} from '@openai/agents'
import { useRedis } from '@sluice/test-harness/jest'
import { generateText, jsonSchema, stepCountIs, streamText, tool, wrapLanguageModel } from 'ai'
import { convertArrayToReadableStream, MockLanguageModelV3 } from 'ai/test'
import OpenAI from 'openai'
import { type Budget, BudgetError, createBudget, type RunOptions } from './index.ts'
import { type ModelServer, startModelServer } from './testing/model-server.ts'

const who = { user: 'ada' }
const redis = useRedis()
const schema = {
  type: 'object' as const,
  properties: {},
  additionalProperties: false,
  required: [] as string[],
}

let model: ModelServer
let budget: Budget<'user'>
let ran: number
beforeAll(async () => {
  setTracingDisabled(true)
  model = await startModelServer()
})
afterAll(() => model.close())
beforeEach(async () => {
  await redis.client.flushall()
  model.asked.length = 0
  model.toolCalls = 4
  ran = 0
  budget = createBudget({
    store: redis.client,
    deadline: '30s',
    unit: 'tokens',
    window: 'month',
    levels: { user: 1_000_000 },
  })
})
afterEach(() => budget.close())

const runWith = (options: Partial<RunOptions>) => budget.run({ id: 'task', ...options })
type Run = ReturnType<typeof runWith>

async function work(): Promise<string> {
  ran += 1
  await new Promise((next) => setTimeout(next, 5))
  return 'Go on.'
}

const look = () => tool({ inputSchema: jsonSchema<object>(schema), execute: work })
const provider = (fetch?: typeof globalThis.fetch) =>
  createOpenAI({ apiKey: 'k', baseURL: `${model.url}/v1`, ...(fetch && { fetch }) })

/** The loop of the AI SDK. */
function loop(run: Run) {
  return generateText({
    model: wrapLanguageModel({ model: provider().chat('large'), middleware: run.aiSdk(who) }),
    tools: run.tools(who, { look: look() }),
    stopWhen: stepCountIs(1000),
    prompt: 'Look.',
  })
}

/** The loop of OpenAI's agents. */
function runAgent(run: Run) {
  const openAIClient = new OpenAI({
    apiKey: 'k',
    baseURL: `${model.url}/v1`,
    fetch: run.fetch(who),
  })
  const parameters = schema as never
  const tools = [agentTool({ name: 'look', description: 'Looks.', parameters, execute: work })]
  const agent = new Agent({ name: 'agent', model: 'large', tools: run.tools(who, tools) })
  const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient }) })
  return runner.run(agent, 'Look.', { maxTurns: 1000 })
}

const spent = expect.objectContaining({
  name: 'BudgetError',
  message: 'The run has made all the tool calls that it may. It has ended.',
})

describe.each([
  ['the AI SDK', loop],
  ['OpenAI’s agents', runAgent],
])('the loop of %s', (_, start) => {
  test.each([0, 4, 5, 10])('ends after exactly %d calls of tools', async (maxToolCalls) => {
    const run = runWith({ maxToolCalls })
    const error = await start(run).catch((thrown: unknown) => thrown)
    expect(error instanceof ToolCallError ? error.error : error).toEqual(spent)
    expect(ran).toBe(maxToolCalls)
    // The answer whose calls did not fit was the last one.
    expect(model.asked).toHaveLength(Math.floor(maxToolCalls / 4) + 1)
    const call = await run.reserve(who, { model: 'large', output: 1 })
    expect(call).toMatchObject({ allowed: false, level: 'toolCalls', remaining: 0 })
  })

  test('ends for all who share the run, whatever runs in parallel', async () => {
    const runs = [1, 2, 3].map(() => runWith({ maxToolCalls: 10 }))
    const results = await Promise.allSettled(runs.map((run) => start(run)))
    expect(results.map(({ status }) => status)).toEqual(Array(3).fill('rejected'))
    expect(ran).toBe(10)
  })

  test('goes on as long as the tools are enough', async () => {
    const run = runWith({ maxToolCalls: 4 })
    const started = start(run)
    while (model.asked.length === 0) await new Promise((next) => setTimeout(next, 1))
    model.toolCalls = 0
    await started
    expect(ran).toBe(4)
    expect(await run.usage(who)).toMatchObject({
      allowed: true,
      levels: [{ level: 'user' }, { level: 'toolCalls', limit: 4, used: 4, remaining: 0 }],
    })
  })
})

test('a stream of the AI SDK ends too', async () => {
  const run = runWith({ maxToolCalls: 10 })
  const usage = { inputTokens: { total: 10 }, outputTokens: { total: 5 } } as never
  const finishReason = { unified: 'tool-calls', raw: undefined } as const
  const doStream = async () => ({
    stream: convertArrayToReadableStream([
      ...[1, 2, 3, 4].map((id) => {
        return { type: 'tool-call', toolCallId: `${id}`, toolName: 'look', input: '{}' } as const
      }),
      { type: 'finish' as const, finishReason, usage },
    ]),
  })
  const mock = new MockLanguageModelV3({ doStream })
  const errors: unknown[] = []
  const result = streamText({
    model: wrapLanguageModel({ model: mock, middleware: run.aiSdk(who) }),
    tools: run.tools(who, { look: look() }),
    stopWhen: stepCountIs(1000),
    prompt: 'Look.',
    onError: ({ error }) => void errors.push(error),
  })
  await result.consumeStream()
  expect(ran).toBe(10)
  expect(mock.doStreamCalls).toHaveLength(3)
  expect(errors.at(-1)).toEqual(spent)
})

test('a run that has ended shows its limit as used', async () => {
  const run = runWith({ maxToolCalls: 3, maxCalls: 10, max: 10_000 })
  await expect(loop(run)).rejects.toEqual(spent)
  const { levels } = await run.usage(who)
  expect(levels.at(-1)).toMatchObject({ level: 'toolCalls', limit: 3, used: 3, remaining: 0 })
})

test('runs within a run: what is refused in one is not counted in the other', async () => {
  const outer = runWith({ maxToolCalls: 5 })
  const inner = outer.run({ id: 'inner', maxToolCalls: 2 })
  await expect(loop(inner)).rejects.toEqual(spent)
  expect(ran).toBe(2)
  expect(await outer.usage(who)).toMatchObject({ allowed: true, levels: [{}, { used: 2 }] })
  await expect(loop(outer.run({ id: 'next', maxToolCalls: 50 }))).rejects.toEqual(spent)
  expect(ran).toBe(5)
})

test('tools that yield their results still do', async () => {
  const tools = runWith({ maxToolCalls: 1 }).tools(who, {
    look: {
      ...look(),
      async *execute() {
        yield 1
        yield 2
      },
    },
    elsewhere: { id: 'of the client' },
  })
  const seen = []
  for await (const each of tools.look.execute()) seen.push(each)
  expect(seen).toEqual([1, 2])
  await expect(tools.look.execute().next()).rejects.toBeInstanceOf(BudgetError)
  expect(tools.elsewhere).toEqual({ id: 'of the client' })
})

test('without maxToolCalls there is nothing to count', () => {
  expect(() => runWith({ maxCalls: 1 }).tools(who, {})).toThrow('Give run() maxToolCalls')
  expect(() => budget.tools(who, {})).toThrow('Give run() maxToolCalls')
  expect(() => runWith({ maxToolCalls: -1 })).toThrow('maxToolCalls')
  expect(() => runWith({ maxToolCalls: 1 }).tools(who, undefined as never)).toThrow(
    'Give tools as an object',
  )
})
