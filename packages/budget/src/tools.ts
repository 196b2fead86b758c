type Run = (...given: unknown[]) => unknown

/**
 * Tools of the AI SDK, or of OpenAI's agents.
 * @param count is awaited before a tool runs, and rejects if it may not
 */
export function countedTools<T extends object>(tools: T, count: () => Promise<void>): T {
  const counted = Object.entries(tools).map(([name, tool]) => [name, countedTool(tool, count)])
  const inForm = Object.fromEntries(counted)
  return Array.isArray(tools) ? (Object.values(inForm) as T) : inForm
}

function countedTool(tool: { [name: string]: unknown }, count: () => Promise<void>): object {
  // An agent shows a model what `execute` throws, and goes on. What `invoke` throws ends it.
  const name = ['invoke', 'execute'].find((each) => typeof tool[each] === 'function')
  if (name === undefined) return tool
  const run = tool[name] as Run
  const counting: Run = async (...given) => {
    await count()
    return run.apply(tool, given)
  }
  const streaming: Run = async function* (...given) {
    await count()
    yield* run.apply(tool, given) as AsyncIterable<unknown>
  }
  // A tool that yields its results must not return a promise.
  const isStream = Symbol.asyncIterator in Object(run.prototype)
  return { ...tool, [name]: isStream ? streaming : counting }
}
