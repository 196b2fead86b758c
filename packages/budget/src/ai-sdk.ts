import { estimateTokens } from '@sluice/core'
import { BudgetError } from './call.ts'
import type { Usage } from './options.ts'
import { type Open, Reading } from './reading.ts'

/** The parts of a call of the AI SDK, of versions 5 to 7, that are read. */
interface Call {
  readonly params: { prompt: unknown; tools?: unknown; maxOutputTokens?: number | undefined }
  readonly model: { readonly modelId: string }
}
type Part = { readonly type: string; readonly usage?: Used }
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
  const outputOf = (params: Call['params']) => params.maxOutputTokens ?? maxOutput
  /** Makes a call, the most of which is reserved before. */
  const make = async <R>(
    { params, model: { modelId: model } }: Call,
    act: () => PromiseLike<R>,
  ) => {
    const reading = new Reading()
    const input = estimateTokens([params.prompt ?? [], params.tools ?? []])
    const call = await open({ model, input, output: outputOf(params) }, reading)
    if (!call.allowed) throw new BudgetError(call)
    try {
      return { result: await act(), call, reading, model }
    } catch (error) {
      const { statusCode = 0 } = error as { statusCode?: number }
      // A call that the provider refuses has used nothing. Of all others nobody knows: an answer that can't be read has
      // the status 200.
      if (statusCode >= 400) await call.settle({ model, input: 0, output: 0 })
      await call.release()
      throw error
    }
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
      const { result, call, model } = await make(options, options.doGenerate)
      await call.settle(usageOf(model, result.usage))
      return result
    },
    wrapStream: async <R extends { stream: object }>(
      options: Call & { doStream: () => PromiseLike<R> },
    ): Promise<R> => {
      const { result, call, reading, model } = await make(options, options.doStream)
      let usage: Usage | undefined
      const note = (part: Part) => {
        if (part.type === 'finish' && part.usage !== undefined) usage = usageOf(model, part.usage)
        return part
      }
      const parts = result.stream as ReadableStream<Part>
      return { ...result, stream: reading.of(call, parts, note, () => usage) }
    },
  }
}

function usageOf(model: string, { inputTokens, outputTokens, cachedInputTokens }: Used): Usage {
  const totalOf = (count: Count) => (typeof count === 'object' ? count.total : count)
  const details = typeof inputTokens === 'object' ? inputTokens : { cacheRead: cachedInputTokens }
  const { cacheRead: cached, cacheWrite } = details
  return { model, input: totalOf(inputTokens), output: totalOf(outputTokens), cached, cacheWrite }
}
