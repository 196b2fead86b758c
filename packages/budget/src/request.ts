import type { BudgetCall } from './call.ts'
import type { Facts, Json } from './usage.ts'

/** Tools that run with the caller, and those that cost nothing but tokens. */
const FREE_TOOLS =
  /^(function|custom|namespace|local_shell|apply_patch|computer|bash|text_editor|memory|tool_search|mcp|web_fetch)/
/** What holds for the whole answer, unless that says something else. */
const MODES = ['service_tier', 'speed', 'inference_geo']
/** Errors before anything was sent: of DNS, of the connection, of TLS, and of the AI SDK's own checks. */
const UNSENT =
  /^(connect|getaddrinfo|query\w+|UND_ERR_CONNECT_TIMEOUT|.*CERT.*|UNABLE_TO_VERIFY_LEAF_SIGNATURE|AI_(LoadAPIKey|LoadSetting|InvalidPrompt|InvalidArgument|UnsupportedFunctionality|NoSuchModel)Error)$/

/** What a request asks for that may cost more than its tokens: by any of its models. */
export function readRequest(body: Json) {
  const { model, models = [], fallbacks = [], tools = [], plugins = [], modalities = [] } = body
  const others = [models, fallbacks].flat().map((each) => (each as Json | null)?.model ?? each)
  const named = [tools, plugins].flat() as { type?: string; id?: string; max_uses?: unknown }[]
  const kinds = named.map((each) => String(each?.type ?? each?.id ?? 'custom'))
  if (body.web_search_options) kinds.push('web_search_options')
  const uses = [body.max_tool_calls ?? named.map((each) => each?.max_uses)].flat().filter(isCount)
  const given = MODES.filter((name) => body[name] !== undefined && body[name] !== null)
  const modes: Facts = Object.fromEntries(given.map((name) => [name, String(body[name])]))
  const asks = {
    ...modes,
    modalities: [modalities].flat().join() || undefined,
    server_tools: kinds.filter((kind) => !FREE_TOOLS.test(kind)).join() || undefined,
    max_tool_calls: uses.length > 0 ? uses.reduce((sum, each) => sum + each) : undefined,
  }
  return { modes, asks, models: [model, ...others] as string[] }
}

/** Makes a call that is reserved. What certainly used nothing costs nothing. */
export async function carryOut<R>(
  call: BudgetCall,
  signal: AbortSignal | undefined,
  act: () => PromiseLike<R>,
): Promise<R> {
  let isSent = false
  try {
    signal?.throwIfAborted()
    isSent = true
    return await act()
  } catch (error) {
    await (isSent && !isUnused(error) ? call.release() : call.cancel())
    throw error
  }
}

/** Whether it is certain: the provider has refused the call, or was not reached. */
function isUnused(error: unknown): boolean {
  const { statusCode, errors, cause, syscall, code, name } = Object(error)
  if (statusCode >= 400) return true
  if (errors?.length > 0) return errors.every(isUnused)
  return [syscall, code, name].some((text) => UNSENT.test(text)) || (cause && isUnused(cause))
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
