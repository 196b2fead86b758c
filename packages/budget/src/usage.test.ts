import { describe, expect, test } from '@jest/globals'
import { UsageReader } from './usage.ts'

const text = (bytes: string) => new TextEncoder().encode(bytes)

/** What a reader knows when it has read so many events, and what it passes on. */
async function read(events: readonly (object | string)[], hides = false) {
  const used = new UsageReader({})
  const lines = events.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)))
  const body = ReadableStream.from(lines.map((data) => text(`data: ${data}\n\n`)))
  const passed = await new Response(used.eventsOf(body as ReadableStream<Uint8Array>, hides)).text()
  const { input, output } = used.usage ?? {}
  return { isWhole: used.isWhole, input, output, passed }
}

const usage = { prompt_tokens: 5, completion_tokens: 7 }
const chunk = (finish_reason: string | null) => ({ choices: [{ delta: {}, finish_reason }] })
const started = { type: 'message_start', message: { usage: { input_tokens: 5, output_tokens: 1 } } }
const delta = (stop_reason: string | null, output_tokens: number) => ({
  type: 'message_delta',
  delta: { stop_reason },
  usage: { input_tokens: null, output_tokens },
})
const response = (status: string) => ({
  type: `response.${status}`,
  response: { status, usage: { input_tokens: 5, output_tokens: 7 } },
})

describe('a stream', () => {
  test.each<[string, (object | string)[]]>([
    ['of chat', [chunk(null), chunk('stop'), { choices: [], usage }, '[DONE]']],
    ['of chat, without [DONE]', [chunk('stop'), { choices: [], usage }]],
    ['with its usage at the end of the answer', [chunk(null), { ...chunk('stop'), usage }]],
    ['with its usage everywhere', [{ ...chunk(null), usage }, chunk('stop'), '[DONE]']],
    ['of messages', [started, delta('end_turn', 7), { type: 'message_stop' }]],
    ['of responses', [response('in_progress'), response('completed')]],
    ['of responses that are cut', [response('in_progress'), response('incomplete')]],
  ])('%s has said all', async (_, events) => {
    expect(await read(events)).toMatchObject({ isWhole: true, input: 5, output: 7 })
  })

  test.each<[string, (object | string)[], number | undefined]>([
    ['of chat', [chunk(null), chunk('stop')], undefined],
    [
      'with its usage everywhere',
      [
        { ...chunk(null), usage },
        { ...chunk(null), usage },
      ],
      7,
    ],
    [
      'of two answers',
      [
        { ...chunk('stop'), usage },
        { ...chunk(null), usage },
      ],
      7,
    ],
    ['of messages', [started], 1],
    ['of messages, later', [started, delta(null, 3)], 3],
    ['of responses', [response('in_progress')], 7],
  ])('%s that ends early has not', async (_, events, output) => {
    expect(await read(events)).toMatchObject({ isWhole: false, output })
  })

  test('is passed on as it is, but for what nobody has asked for', async () => {
    const events = [chunk(null), { choices: [], usage }, '[DONE]']
    const all = events.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)))
    expect((await read(events)).passed).toBe(all.map((data) => `data: ${data}\n\n`).join(''))
    expect((await read(events, true)).passed).toBe(`data: ${all[0]}\n\ndata: [DONE]\n\n`)
  })
})

test('what stands beside prompt_tokens is in it', () => {
  const used = new UsageReader({})
  used.read({ usage: { ...usage, cache_read_input_tokens: 3, cache_creation_input_tokens: 1 } })
  expect(used.usage).toMatchObject({ input: 5, output: 7, cached: 3, cacheWrite: 1 })
})
