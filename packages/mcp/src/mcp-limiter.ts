import type { McpServer, Server } from '@modelcontextprotocol/server'
import { conflict, warnOnce } from '@sluice/core/internal'
import { CallLimiter } from './call-limiter.ts'
import { type CallPolicies, type McpCall, type McpLimiterOptions, readSettings } from './options.ts'
import { type HttpExchange, RateLimited, refuseOverHttp, toolRefusal } from './refusal.ts'

/** Handles a request, or its parameters: as it was registered. */
type Handler = (request: Called, call: McpCall) => unknown

interface Called {
  readonly method?: string
  readonly name?: unknown
  readonly params?: Called & { readonly cursor?: unknown }
}

/** The parts of the SDK's `Server` that are replaced. */
interface Hooked {
  setRequestHandler(method: string, schemas: object, handler?: Handler): void
  fallbackRequestHandler: Handler | undefined
  _getRequestHandler(method: string): Handler | undefined
  onerror?: ((error: Error) => void) | undefined
  readonly transport?: HttpExchange | undefined
}

const METHODS = ['tools/list', 'tools/call', 'resources/read', 'prompts/get']

/** The limiters of servers. */
const limiters = new WeakMap<object, McpLimiter>()

/** Limits the calls of MCP servers. */
export interface McpLimiter {
  /**
   * Limits a server, whether its tools, resources and prompts are registered before or later.
   * @returns the server
   * @throws SluiceError if it has another limiter
   */
  apply<S extends Server | McpServer>(server: S): S
  /** Closes the limiter, and a store that it has made itself. */
  close(): void
}

class ServerLimiter implements McpLimiter {
  readonly #all: CallLimiter
  readonly #tools: ReadonlyMap<string, CallLimiter>
  readonly #resources: CallLimiter
  readonly #prompts: CallLimiter
  /** The names in `tools` that the first list has not had yet. */
  readonly #unlisted: Set<string>
  /** The requests that were counted, by their signals: the SDK may call a handler again for the same one. */
  readonly #counted = new WeakSet<AbortSignal>()

  constructor({ options, all, tools, resources, prompts }: ReturnType<typeof readSettings>) {
    this.#all = new CallLimiter(all, options)
    const open = (policies: CallPolicies) => new CallLimiter(policies, options, this.#all.store)
    this.#tools = new Map(Array.from(tools, ([name, policies]) => [name, open(policies)]))
    this.#resources = resources ? open(resources) : this.#all
    this.#prompts = prompts ? open(prompts) : this.#all
    this.#unlisted = new Set(tools.keys())
  }

  apply<S extends Server | McpServer>(server: S): S {
    const hooked = ('server' in server ? server.server : server) as unknown as Hooked
    const known = limiters.get(hooked)
    if (known === this) return server
    if (known !== undefined)
      throw conflict('apply', 'a server without a limiter', server, 'Give one limiter `policies`.')
    limiters.set(hooked, this)
    const set = hooked.setRequestHandler.bind(hooked)
    const limited = (method: string, handler: Handler) => this.#limited(hooked, method, handler)
    hooked.setRequestHandler = (method, given, handler) =>
      handler === undefined
        ? set(method, limited(method, given as Handler))
        : set(method, given, limited(method, handler))
    for (const method of METHODS) {
      const handler = hooked._getRequestHandler(method)
      if (handler !== undefined) hooked.setRequestHandler(method, handler)
    }
    let fallback = hooked.fallbackRequestHandler
    const ofFallback: Handler = (request, call) =>
      limited(`${request.method}`, fallback as Handler)(request, call)
    Object.defineProperty(hooked, 'fallbackRequestHandler', {
      get: () => fallback && ofFallback,
      set: (handler) => {
        fallback = handler
      },
    })
    return server
  }

  close(): void {
    const opened = new Set([...this.#tools.values(), this.#resources, this.#prompts])
    opened.delete(this.#all)
    for (const limiter of opened) limiter.close()
    this.#all.close()
  }

  #limited(server: Hooked, method: string, handler: Handler): Handler {
    if (method === 'tools/list')
      return async (request, call) => {
        const tools = await handler(request, call)
        this.#compare(tools as Listed, request.params ?? request)
        return tools
      }
    if (!METHODS.includes(method)) return handler
    return async (request, call) => {
      const { signal } = call.mcpReq
      if (this.#counted.has(signal)) return handler(request, call)
      this.#counted.add(signal)
      const limiter = this.#limiterOf(method, (request.params ?? request).name)
      const decision = await limiter.consume(call).catch((error) => {
        server.onerror?.(error)
        throw error
      })
      if (decision.delayMs > 0) await new Promise((next) => setTimeout(next, decision.delayMs))
      // The client has gone: its call is charged, but need not run.
      signal.throwIfAborted()
      if (decision.allowed) return handler(request, call)
      const isTool = method === 'tools/call'
      refuseOverHttp(server.transport, decision, isTool)
      if (isTool) return toolRefusal(decision)
      throw new RateLimited(decision)
    }
  }

  #limiterOf(method: string, name: unknown): CallLimiter {
    if (method === 'resources/read') return this.#resources
    if (method === 'prompts/get') return this.#prompts
    return this.#tools.get(name as string) ?? this.#all
  }

  /** Warns of names that are not in the first list, once it has seen all of that. */
  #compare({ tools, nextCursor }: Listed, { cursor }: NonNullable<Called['params']>): void {
    for (const { name } of tools) this.#unlisted.delete(name)
    if (cursor !== undefined || nextCursor !== undefined) return
    for (const name of this.#unlisted)
      warnOnce(
        'SLUICE_TOOL_UNKNOWN',
        `tools has a limit for '${name}', but the first list of tools has no such tool. Correct the name, unless the tool is disabled or for other users.`,
        `tool ${name}`,
      )
    this.#unlisted.clear()
  }
}

interface Listed {
  readonly tools: readonly { readonly name: string }[]
  readonly nextCursor?: string | undefined
}

/**
 * A limiter for MCP servers: make it once, and apply it to each server that is made.
 *
 * @throws SluiceError if an option is unknown, of the wrong type, out of range, or contradicts another
 */
export function createMcpLimiter(options: McpLimiterOptions): McpLimiter {
  return new ServerLimiter(readSettings(options))
}
