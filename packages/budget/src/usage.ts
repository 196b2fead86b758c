import { createParser } from 'eventsource-parser'
import type { Usage } from './options.ts'
import type { Json } from './request.ts'

/** The numbers and texts of a usage, by their paths: `completion_tokens_details.reasoning_tokens`. */
export type Facts = { [path: string]: string | number | undefined }

/** Where the APIs of OpenAI and Anthropic write the counts: the first that an answer has. */
const COUNTS = {
  input: 'prompt_tokens input_tokens',
  output: 'completion_tokens output_tokens',
  cached:
    'prompt_tokens_details.cached_tokens input_tokens_details.cached_tokens cache_read_input_tokens',
  cacheWrite:
    'prompt_tokens_details.cache_write_tokens input_tokens_details.cache_write_tokens cache_creation_input_tokens',
}
/** What Anthropic's counts do not have. */
const BESIDE_INPUT = 'cache_read_input_tokens cache_creation_input_tokens compaction.input_tokens'
const BESIDE_OUTPUT = 'compaction.output_tokens'

/** Reads what an answer says of its use: the whole of it, or its parts. */
export class UsageReader {
  /** What it has said so far. */
  usage: Usage | undefined
  /** Whether that is all of it. */
  isWhole = false
  readonly #facts: Facts

  /** @param asked what holds unless the answer says something else */
  constructor(asked: Facts) {
    this.#facts = { ...asked }
  }

  readWhole(answer: Json): void {
    this.read(answer)
    this.isWhole = true
  }

  /** @param part a piece of an answer, such as the data of an event */
  read(part: Json): void {
    const { choices, delta, response } = part as { [name: string]: Json | undefined }
    const { model, service_tier, usage, tool_usage, output } = {
      ...part,
      ...Object(response ?? part.message),
    }
    const facts = factsOf({ model, service_tier, ...Object(usage), tool_usage, output })
    Object.assign(this.#facts, facts)
    if (typeof usage !== 'object' || usage === null) return
    this.usage = { model: '', ...this.#facts, ...countsOf(this.#facts) }
    const isRunning = /^(in_progress|queued)$/.test(`${response?.status}`)
    const answers = Array.isArray(choices) ? (choices as Json[]) : undefined
    const hasEnded = answers?.every((each) => each.finish_reason) ?? delta?.stop_reason
    this.isWhole = Boolean(response === undefined ? hasEnded : !isRunning)
  }

  /**
   * Reads an event of a stream, and returns whether it has nothing but usage.
   * @param data the data of the event
   */
  event(data: string): boolean {
    if (data === '[DONE]') this.isWhole = true
    if (!/"usage":\s*\{/.test(data)) return false
    const part = parsed(data)
    this.read(part)
    return Array.isArray(part.choices) && part.choices.length === 0
  }

  /**
   * Reads the events of a stream, and passes them on.
   * @param hides whether events that have nothing but usage are kept back
   */
  eventsOf(body: ReadableStream<Uint8Array>, hides: boolean): ReadableStream<Uint8Array> {
    const decoder = new TextDecoder()
    let others = ''
    const parser = createParser({
      onEvent: ({ data, ...named }) => {
        if (this.event(data)) return
        for (const [name, value] of Object.entries(named))
          if (value !== undefined) others += `${name}: ${value}\n`
        others += `data: ${data.replaceAll('\n', '\ndata: ')}\n\n`
      },
      onComment: (comment) => {
        others += `: ${comment}\n\n`
      },
    })
    const pass = (to: TransformStreamDefaultController, text: string, bytes?: Uint8Array) => {
      others = ''
      parser.feed(text)
      const passed = hides ? new TextEncoder().encode(others) : bytes
      if (passed?.length) to.enqueue(passed)
    }
    return body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (bytes, to) => pass(to, decoder.decode(bytes, { stream: true }), bytes),
        flush: (to) => pass(to, `${decoder.decode()}\n\n`),
      }),
    )
  }
}

/** The object that a text is the JSON of; of other texts, one that has nothing. */
export function parsed(text: string): Json {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

/** Items of lists are counted by their types, and so is what they have. */
export function factsOf(json: object, path = '', facts: Facts = {}): Facts {
  for (const [name, value] of Object.entries(json) as [string, unknown][]) {
    const at = path + name
    if (typeof value === 'number') facts[at] = Number(facts[at] ?? 0) + value
    else if (typeof value === 'string' && path === '') facts[at] = value
    else if (typeof value === 'object' && value !== null && !Array.isArray(value))
      factsOf(value, `${at}.`, facts)
    for (const item of Array.isArray(value) ? value : [])
      if (typeof item?.type === 'string')
        factsOf(item, `${item.type}.`, factsOf({ [item.type]: 1 }, '', facts))
  }
  return facts
}

/** The counts that every price gets. An output without a number is unknown; reasoning may stand in the total alone. */
export function countsOf(facts: Facts) {
  const countsIn = (names: string) =>
    names.split(' ').flatMap((name) => (typeof facts[name] === 'number' ? [facts[name]] : []))
  const sumOf = (names: string) => countsIn(names).reduce((sum, count) => sum + count, 0)
  const isApart = facts.prompt_tokens === undefined
  const [input = Number.NaN] = countsIn(COUNTS.input)
  const [output = facts.total_tokens === undefined ? Number.NaN : 0] = countsIn(COUNTS.output)
  const all = input + (isApart ? sumOf(BESIDE_INPUT) : 0)
  const produced = output + (isApart ? sumOf(BESIDE_OUTPUT) : 0)
  return {
    input: all,
    output: Math.max(produced, sumOf('total_tokens') - all),
    cached: countsIn(COUNTS.cached)[0] ?? 0,
    cacheWrite: countsIn(COUNTS.cacheWrite)[0] ?? 0,
  }
}
