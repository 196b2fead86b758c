import { createParser } from 'eventsource-parser'
import type { Usage } from './options.ts'

export interface Json {
  [name: string]: unknown
}
/** The numbers and texts of a usage, by their paths: `completion_tokens_details.reasoning_tokens`. */
export type Facts = { [path: string]: string | number | undefined }

/** Where the APIs of OpenAI and Anthropic write the counts: the first that an answer has. */
const INPUT = 'prompt_tokens input_tokens'
const OUTPUT = 'completion_tokens output_tokens'
const CACHED =
  'prompt_tokens_details.cached_tokens input_tokens_details.cached_tokens cache_read_input_tokens'
const CACHE_WRITE =
  'prompt_tokens_details.cache_write_tokens input_tokens_details.cache_write_tokens cache_creation_input_tokens'
/** What Anthropic's counts do not have. */
const BESIDE_INPUT = 'cache_read_input_tokens cache_creation_input_tokens compaction.input_tokens'

/** What an answer has said of its use so far. */
export interface Used {
  readonly usage: Usage | undefined
  /** Whether that is all of it. */
  readonly isWhole: boolean
}

/** Reads the use from an answer, or from its events. */
export class UsageReader implements Used {
  usage: Usage | undefined
  isWhole = false
  #facts: Facts

  /** @param asked what holds unless the answer says something else */
  constructor(asked: Facts) {
    this.#facts = asked
  }

  /** @param json an answer, or the data of an event */
  read(json: Json = {}): void {
    const answer = { ...json, ...(json.response ?? json.message ?? {}) } as Json
    const { model, service_tier, usage, tool_usage, output } = answer
    if (typeof usage !== 'object' || usage === null) return
    const facts = factsOf({ model, service_tier, ...usage, tool_usage, output })
    this.#facts = { ...this.#facts, ...facts }
    this.usage = { model: '', ...this.#facts, ...countsOf(this.#facts) }
  }

  /**
   * Reads an event of a stream, and returns whether it has nothing but usage.
   * @param data the data of the event
   */
  event(data: string): boolean {
    if (data === '[DONE]') this.isWhole = true
    const json = /"usage":\s*\{/.test(data) ? parsed(data) : undefined
    if (json === undefined) return false
    this.read(json)
    const { choices, delta, response } = json as { [name: string]: Json | undefined }
    const answers = Array.isArray(choices) ? (choices as Json[]) : undefined
    const isRunning = /^(in_progress|queued)$/.test(`${response?.status}`)
    const hasEnded = answers?.every((each) => each.finish_reason) ?? delta?.stop_reason
    this.isWhole = Boolean(response === undefined ? hasEnded : !isRunning)
    return answers?.length === 0
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
        const fields = { ...named, data: data.replaceAll('\n', '\ndata: ') }
        for (const [name, value] of Object.entries(fields))
          if (value !== undefined) others += `${name}: ${value}\n`
        others += '\n'
      },
      onComment: (comment) => {
        others += `: ${comment}\n\n`
      },
    })
    const pass = (text: string, chunk: Uint8Array, to: TransformStreamDefaultController) => {
      others = ''
      parser.feed(text)
      const bytes = hides ? new TextEncoder().encode(others) : chunk
      if (bytes.length > 0) to.enqueue(bytes)
    }
    const events = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, to) => pass(decoder.decode(chunk, { stream: true }), chunk, to),
      flush: (to) => pass(`${decoder.decode()}\n\n`, new Uint8Array(), to),
    })
    return body.pipeThrough(events)
  }
}

/** Undefined unless it is the JSON of an object. */
export function parsed(text: string): Json | undefined {
  try {
    const json: unknown = JSON.parse(text)
    return typeof json === 'object' && json !== null ? (json as Json) : undefined
  } catch {
    return undefined
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
  const [input = Number.NaN] = countsIn(INPUT)
  const all = input + (isApart ? sumOf(BESIDE_INPUT) : 0)
  const [output = facts.total_tokens === undefined ? Number.NaN : 0] = countsIn(OUTPUT)
  const more = isApart ? sumOf('compaction.output_tokens') : 0
  return {
    input: all,
    output: Math.max(output + more, sumOf('total_tokens') - all),
    cached: countsIn(CACHED)[0] ?? 0,
    cacheWrite: countsIn(CACHE_WRITE)[0] ?? 0,
  }
}
