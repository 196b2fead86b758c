import { estimateTokens, type MediaTokens } from '@sluice/core'
import { BudgetError } from './call.ts'
import type { Usage } from './options.ts'
import { type Open, Reading } from './reading.ts'
import { carryOut, readRequest } from './request.ts'
import { countsOf, factsOf, type Json } from './usage.ts'

/** The parts of a call of the AI SDK, of versions 5 to 7, that are read. */
interface Call {
  readonly params: {
    prompt: unknown
    tools?: readonly object[] | undefined
    maxOutputTokens?: number | undefined
    abortSignal?: AbortSignal | undefined
    providerOptions?: object | undefined
  }
  readonly model: { readonly modelId: string }
}
type Count = number | undefined | { total?: number; cacheRead?: number; cacheWrite?: number }
type Reported = { [count in 'inputTokens' | 'outputTokens']?: Count } & Json
/** A whole answer, or a part of one. */
interface Answer {
  readonly usage?: Reported
  readonly providerMetadata?: object
  readonly modelId?: string
  readonly response?: { modelId?: string | undefined } | undefined
}

/** @param maxOutput the most output, where the application does not say it, tokens */
export function aiSdk(open: Open, maxOutput: number, mediaTokens?: MediaTokens) {
  const outputOf = (params: Call['params']) => params.maxOutputTokens ?? maxOutput
  /** Makes a call, the most of which is reserved before. */
  const make = async <R>({ params, model }: Call, act: () => PromiseLike<R>) => {
    const { prompt, tools = [], providerOptions, abortSignal } = params
    const { asks, models, modes } = readRequest(toBody(model.modelId, tools, providerOptions))
    const input = estimateTokens([prompt ?? [], tools], mediaTokens)
    const reading = new Reading()
    const most = { ...asks, input, output: outputOf(params) }
    const call = await open(
      models.map((each) => ({ ...most, model: each })),
      reading,
    )
    if (!call.allowed) throw new BudgetError(call)
    const used = { usage: undefined as Usage | undefined, isWhole: false, model: '' }
    const note = ({ usage, response, modelId, ...answer }: Answer) => {
      used.model = response?.modelId ?? modelId ?? used.model
      if (usage === undefined) return
      const facts = factsOfCall(usage, answer.providerMetadata ?? {})
      used.usage = { model: used.model, ...modes, ...facts, ...countsOf(facts) }
      used.isWhole = true
    }
    return { result: await carryOut(call, abortSignal, act), call, reading, used, note }
  }
  return {
    /** Each version of the AI SDK takes this for its own. */
    specificationVersion: 'v3' as never,
    transformParams: async <P extends Call['params']>({ params }: { params: P }): Promise<P> => ({
      ...params,
      maxOutputTokens: outputOf(params),
    }),
    wrapGenerate: async <R extends { usage: object }>(
      options: Call & { doGenerate: () => PromiseLike<R> },
    ): Promise<R> => {
      const { result, call, used, note } = await make(options, options.doGenerate)
      note(result as Answer)
      await call.settle(used.usage as Usage)
      return result
    },
    wrapStream: async <R extends { stream: object }>(
      options: Call & { doStream: () => PromiseLike<R> },
    ): Promise<R> => {
      const { result, call, reading, used, note } = await make(options, options.doStream)
      const parts = result.stream as ReadableStream<Answer>
      return { ...result, stream: reading.of(call, parts, used, note) }
    },
  }
}

/** The options of the provider, and its tools, as the bodies of the APIs have them. */
function toBody(model: string, tools: readonly object[], options: object = {}): Json {
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const fields = Object.values(options).flatMap((each) => Object.entries(each))
  const ofProvider = tools.map((tool) => {
    const { type, id, args } = tool as { type?: string; id?: string; args?: Json }
    return { type: id?.split('.').at(-1) ?? type, max_uses: args?.maxUses }
  })
  const named = fields.map(([name, value]) => [snake(name), value])
  return { ...Object.fromEntries(named), model, tools: ofProvider }
}

/** As if OpenAI had said it: of every provider, the AI SDK's input has what was cached. */
function factsOfCall({ inputTokens, outputTokens, raw, ...usage }: Reported, metadata: object) {
  const { serviceTier: service_tier } = Object.assign({}, ...Object.values(metadata))
  const totalOf = (count: Count) => (typeof count === 'object' ? count.total : count)
  const details = Object(inputTokens)
  return {
    total_tokens: usage.totalTokens as number | undefined,
    ...factsOf({ service_tier, ...Object(raw) }),
    prompt_tokens: totalOf(inputTokens),
    completion_tokens: totalOf(outputTokens),
    'prompt_tokens_details.cached_tokens': details.cacheRead ?? usage.cachedInputTokens,
    'prompt_tokens_details.cache_write_tokens': details.cacheWrite,
  }
}
