import { noteEnd, PROFILE_FIELDS } from '@sluice/http/adapter'
import type { Context } from 'koa'
import { koaAdapter } from './request-adapter.ts'

/**
 * Prepares a response for Koa's error handler, which starts from an empty one: the rate-limit fields
 * that it has now are set again when the head is sent.
 */
export function keepForErrorHandler(ctx: Context, error: unknown): void {
  const { res } = ctx
  if (ctx.headerSent) return
  const kept = PROFILE_FIELDS.map((name) => [name, res.getHeader(name)] as const)
  koaAdapter.beforeHead(ctx, () => {
    for (const [name, value] of kept) {
      if (value !== undefined && !res.hasHeader(name)) res.setHeader(name, value)
    }
  })
  // Koa sends nothing to a client that has gone. What it would have sent is settled all the same.
  if (!ctx.response.writable) res.statusCode = statusOf(error)
}

/** The status of an error as Koa's error handler reads it. */
function statusOf(error: unknown): number {
  const { status, statusCode } = (error ?? {}) as { status?: unknown; statusCode?: unknown }
  const named = Number(status || statusCode)
  return named in process.getBuiltinModule('node:http').STATUS_CODES ? named : 500
}

/**
 * Koa ends no response whose client has gone. It asks whether the response is writable when all
 * middleware has run: then the application has ended it.
 */
export function noteEndOf(ctx: Context): void {
  Object.defineProperty(ctx, 'writable', {
    configurable: true,
    get() {
      const { writable } = ctx.response
      if (!writable) noteEnd(ctx.res)
      return writable
    },
  })
}
