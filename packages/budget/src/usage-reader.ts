import type { Usage } from './options.ts'

interface Json {
  [name: string]: unknown
}
type Counts = { [name: string]: number | null | undefined } & {
  [details in 'prompt_tokens_details' | 'input_tokens_details']?: { cached_tokens?: number }
}

/** Reads the usage from an answer of OpenAI or Anthropic. */
export class UsageReader {
  readonly #model: string
  readonly #hasOutput: boolean
  #counts: Counts | undefined
  #isFinal = false

  /** @param hasOutput whether usage without a number of output is unknown */
  constructor(model: string, hasOutput: boolean) {
    this.#model = model
    this.#hasOutput = hasOutput
  }

  /** Undefined until the answer has said all of it. */
  get usage(): Usage | undefined {
    const missing = this.#hasOutput ? Number.NaN : 0
    return this.#isFinal ? usageOf(this.#model, this.#counts as Counts, missing) : undefined
  }

  /** @param json an answer, or the data of an event */
  read(json: Json | undefined): void {
    const { message, response } = (json ?? {}) as { [part: string]: Json | undefined }
    const last = (json?.usage ?? response?.usage) as Counts | null | undefined
    const counts = last ?? (message?.usage as Counts | undefined)
    if (counts) this.#counts = { ...this.#counts, ...counts } as Counts
    if (last) this.#isFinal = true
  }

  /**
   * The bytes of an event that are passed on.
   * @param hides whether the event that has nothing but the usage is kept back
   */
  pass(event: string, hides: boolean): Uint8Array | undefined {
    if (event.includes('"usage"')) {
      const json = parsed(event.replace(/^(?!data:).*$/gm, '').replace(/^data:/gm, ''))
      this.read(json)
      if (hides && Array.isArray(json?.choices) && json.choices.length === 0) return undefined
    }
    return new TextEncoder().encode(event)
  }
}

/** The events of a stream, each with the blank line behind it. */
export function eventsOf(body: ReadableStream<Uint8Array>): ReadableStream<string> {
  let rest = ''
  const events = new TransformStream<string, string>({
    transform(text, to) {
      const parts = (rest + text).split(/(?<=\n\r?\n)/)
      rest = /\n\r?\n$/.test(parts.at(-1) ?? '') ? '' : (parts.pop() ?? '')
      for (const event of parts) to.enqueue(event)
    },
    flush(to) {
      if (rest !== '') to.enqueue(rest)
    },
  })
  return body.pipeThrough(new TextDecoderStream()).pipeThrough(events)
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

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** Anthropic's input has not what was read from its cache, or written to it; OpenAI's has. */
function usageOf(model: string, counts: Counts, missing: number): Usage {
  const { prompt_tokens_details, input_tokens_details } = counts
  const read = counts.cache_read_input_tokens ?? 0
  const cacheWrite = counts.cache_creation_input_tokens ?? 0
  const details = prompt_tokens_details ?? input_tokens_details
  return {
    model,
    input: (counts.prompt_tokens ?? counts.input_tokens ?? Number.NaN) + read + cacheWrite,
    output: counts.completion_tokens ?? counts.output_tokens ?? missing,
    cached: details?.cached_tokens ?? read,
    cacheWrite,
  }
}
