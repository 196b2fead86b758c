import { BudgetError } from './call.ts'
import { estimateTokens } from './estimate-tokens.ts'
import { ModelCall, type Open } from './model-call.ts'
import type { Settings } from './options.ts'
import type { Json } from './request.ts'

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

export function aiSdk(open: Open, { maxOutput, mediaTokens }: Settings) {
  const outputOf = (params: Call['params']) => params.maxOutputTokens ?? maxOutput
  const make = async <R>({ params, model }: Call, act: () => PromiseLike<R>) => {
    const { prompt, tools = [], providerOptions, abortSignal } = params
    const input = estimateTokens([prompt ?? [], tools], mediaTokens)
    const body = toBody(model.modelId, tools, providerOptions)
    const call = new ModelCall(body, { input, output: outputOf(params) })
    const reserved = await call.reserve(open)
    if (!reserved.allowed) throw new BudgetError(reserved)
    return { call, result: await call.make(abortSignal, act) }
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
      const { call, result } = await make(options, options.doGenerate)
      call.used.readWhole(toAnswer(result))
      await call.end()
      return result
    },
    wrapStream: async <R extends { stream: object }>(
      options: Call & { doStream: () => PromiseLike<R> },
    ): Promise<R> => {
      const { call, result } = await make(options, options.doStream)
      const parts = result.stream as ReadableStream<object>
      const stream = call.stream(parts, (part) => call.used.read(toAnswer(part)))
      return { ...result, stream }
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

/**
 * A whole answer, or a part of one, as chat completions have it. The input of the AI SDK has what was cached, of every
 * provider. The reason of a stream that breaks or ends early is not the provider's.
 */
function toAnswer(answer: object): Json {
  const { usage, providerMetadata, response, modelId, finishReason } = Object(answer)
  const { unified = finishReason, raw } = Object(finishReason)
  const { serviceTier } = Object.assign({}, ...Object.values(Object(providerMetadata)))
  const { inputTokens: input, outputTokens: output, cachedInputTokens } = Object(usage)
  // Since version 6, counts have parts.
  const totalOf = (count: unknown) => (typeof count === 'object' ? Object(count).total : count)
  return {
    model: response?.modelId ?? modelId,
    choices: [{ finish_reason: /^(other|unknown|error)$/.test(unified) ? raw : unified }],
    usage: usage && {
      service_tier: serviceTier,
      total_tokens: usage.totalTokens,
      ...usage.raw,
      prompt_tokens: totalOf(input),
      completion_tokens: totalOf(output),
      prompt_tokens_details: {
        ...usage.raw?.prompt_tokens_details,
        cached_tokens: input?.cacheRead ?? cachedInputTokens,
        cache_write_tokens: input?.cacheWrite,
      },
    },
  }
}
