/** An object of JSON. */
export interface Json {
  [name: string]: unknown
}

/** Tools that run with the caller, and those that cost nothing but tokens. */
const FREE_TOOLS =
  /^(function|custom|namespace|local_shell|apply_patch|computer|bash|text_editor|memory|tool_search|mcp|web_fetch)/
/** What holds for the whole answer, unless that says something else. */
const MODES = ['service_tier', 'speed', 'inference_geo']

/** What a request asks for that may cost more than its tokens: by any of its models. */
export function readRequest(body: Json) {
  const { model, models = [], fallbacks = [], tools = [], plugins = [], modalities = [] } = body
  const others = [models, fallbacks].flat().map((each) => (each as Json | null)?.model ?? each)
  const named = [tools, plugins].flat() as { type?: string; id?: string; max_uses?: unknown }[]
  const kinds = named.map((each) => String(each?.type ?? each?.id ?? 'custom'))
  if (body.web_search_options) kinds.push('web_search_options')
  const uses = [body.max_tool_calls ?? named.map((each) => each?.max_uses)].flat().filter(isCount)
  const given = MODES.filter((name) => body[name] !== undefined && body[name] !== null)
  const modes = Object.fromEntries(given.map((name) => [name, String(body[name])]))
  const asks = {
    ...modes,
    modalities: [modalities].flat().join() || undefined,
    server_tools: kinds.filter((kind) => !FREE_TOOLS.test(kind)).join() || undefined,
    max_tool_calls: uses.length > 0 ? uses.reduce((sum, each) => sum + each) : undefined,
  }
  return { modes, asks, models: [model, ...others] as string[] }
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
