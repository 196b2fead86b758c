import { estimateTokens } from '@sluice/core'
import { BudgetError } from './call.ts'
import type { Usage } from './options.ts'
import { type Open, Reading } from './reading.ts'

/** What is read of a call of the AI SDK, of versions 5 to 7. */
interface Call {
  readonly params: { prompt: unknown; tools?: unknown; maxOutputTokens?: number | undefined }
  readonly model: { readonly modelId: string }
}
type Count =
  | number
  | undefined
  | { total?: number | undefined; cacheRead?: number | undefined; cacheWrite?: number | undefined }
interface Used {
  readonly inputTokens?: Count
  readonly outputTokens?: Count
  readonly cachedInputTokens?: number | undefined
}

/** @param maxOutput the most output, where the application does not say it, tokens */
export function aiSdk(open: Open, maxOutput: number) {
  const start = async ({ params, model: { modelId: model } }: Call, reading = new Reading()) => {
    const input = estimateTokens([params.prompt ?? [], params.tools ?? []])
    const call = await open({ model, input, output: params.maxOutputTokens ?? maxOutput }, reading)
    if (!call.allowed) throw new BudgetError(call)
    /** What it returns; if it throws, what has been used. */
    const send = async <T>(act: () => PromiseLike<T>) => {
      try {
        return await act()
      } catch (error) {
        const { statusCode } = error as { statusCode?: number }
        // What the provider refuses has used nothing. Of everything else nobody knows.
        if (statusCode !== undefined) await call.settle({ model, input: 0, output: 0 })
        await call.release()
        throw error
      }
    }
    return { call, reading, send, usageOf: (used: Used) => usageOf(model, used) }
  }
  return {
    /** Each version of the AI SDK takes this for its own. */
    specificationVersion: 'v3' as never,
    transformParams: async <P extends Call['params']>({ params }: { params: P }): Promise<P> => ({
      ...params,
      maxOutputTokens: params.maxOutputTokens ?? maxOutput,
    }),
    wrapGenerate: async <R extends { usage: object }>(
      options: Call & { doGenerate: () => PromiseLike<R> },
    ): Promise<R> => {
      const { call, send, usageOf } = await start(options)
      const result = await send(options.doGenerate)
      await call.settle(usageOf(result.usage))
      return result
    },
    wrapStream: async <R extends { stream: object }>(
      options: Call & { doStream: () => PromiseLike<R> },
    ): Promise<R> => {
      const { call, reading, send, usageOf } = await start(options)
      const result = await send(options.doStream)
      let usage: Usage | undefined
      const parts = result.stream as ReadableStream<{ type: string; usage?: Used }>
      const stream = reading.of(
        call,
        parts,
        (part) => {
          if (part.type === 'finish' && part.usage !== undefined) usage = usageOf(part.usage)
          return part
        },
        () => usage,
      )
      return { ...result, stream }
    },
  }
}

function usageOf(model: string, { inputTokens, outputTokens, cachedInputTokens }: Used): Usage {
  const totalOf = (count: Count) => (typeof count === 'object' ? count.total : count)
  const { cacheRead = cachedInputTokens, cacheWrite = undefined } =
    typeof inputTokens === 'object' ? inputTokens : {}
  return {
    model,
    input: totalOf(inputTokens),
    output: totalOf(outputTokens),
    cached: cacheRead,
    cacheWrite,
  }
}
