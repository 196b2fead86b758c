import { STATUS_CODES } from 'node:http'
import {
  type HttpLimiter,
  keepFields,
  noteEnd,
  RateLimitError,
  type Refusal,
  type Verdict,
  writeRefusalFields,
} from '@sluice/core'
import type { Context, Next } from 'koa'

/** Carries out a verdict: fields on every response, then on to the application or refused. */
export function apply(
  httpLimiter: HttpLimiter<Context, Context>,
  verdict: Verdict | undefined,
  ctx: Context,
  next: Next,
): unknown {
  if (verdict === undefined) return next()
  ctx.state.rateLimit = verdict.decision
  const sent = ctx.headerSent
  if (!sent) httpLimiter.writeFields(verdict, ctx, (name, value) => ctx.set(name, value))
  if (verdict.refusal !== undefined) {
    return sent ? undefined : refuse(httpLimiter, verdict, verdict.refusal, ctx)
  }
  const goesOn = httpLimiter.admit(verdict, ctx, ctx)
  return goesOn === true ? goOn(httpLimiter, ctx, next) : wait(goesOn, httpLimiter, ctx, next)
}

async function wait(
  goesOn: boolean | Promise<boolean>,
  httpLimiter: HttpLimiter<Context, Context>,
  ctx: Context,
  next: Next,
): Promise<unknown> {
  return (await goesOn) ? goOn(httpLimiter, ctx, next) : undefined
}

function goOn(
  httpLimiter: HttpLimiter<Context, Context>,
  ctx: Context,
  next: Next,
): Promise<unknown> {
  const done = next().catch((error: unknown) => {
    if (!ctx.headerSent) {
      // Koa's error handler starts from an empty response.
      keepFields(ctx.res)
      // It sends nothing to a client that has gone. What it would have sent is settled all the same.
      if (!ctx.response.writable) ctx.res.statusCode = statusOf(error)
    }
    throw error
  })
  return httpLimiter.settles ? done.finally(() => noteEndOf(ctx)) : done
}

/** As Koa's error handler reads it. */
function statusOf(error: unknown): number {
  const { status, statusCode } = (error ?? {}) as { status?: unknown; statusCode?: unknown }
  const named = Number(status || statusCode)
  return named in STATUS_CODES ? named : 500
}

/**
 * Koa ends no response whose client has gone. It asks whether the response is writable when all
 * middleware has run: then the application has ended it.
 */
function noteEndOf(ctx: Context): void {
  Object.defineProperty(ctx, 'writable', {
    configurable: true,
    get() {
      const { writable } = ctx.response
      if (!writable) noteEnd(ctx.res)
      return writable
    },
  })
}

function refuse(
  { options: { respond } }: HttpLimiter<Context, Context>,
  { decision }: Verdict,
  refusal: Refusal,
  ctx: Context,
): unknown {
  const headers: Record<string, string> = {}
  writeRefusalFields(refusal, (name, value) => {
    headers[name] = value
    ctx.set(name, value)
  })
  if (respond === 'throw') {
    keepFields(ctx.res)
    throw new RateLimitError(refusal, decision, headers)
  }
  ctx.status = refusal.status
  if (respond !== undefined) return respond(decision, ctx, ctx)
  ctx.set('Content-Type', refusal.mediaType)
  ctx.body = refusal.body
  return undefined
}
