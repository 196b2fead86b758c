// The parts of @adonisjs/core that the pages use.
import type { IncomingMessage, ServerResponse } from 'node:http'

export interface HttpContext {
  readonly request: { readonly request: IncomingMessage }
  readonly response: { readonly response: ServerResponse }
}

export type NextFn = () => Promise<unknown>
