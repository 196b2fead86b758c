import { type Gate, RateLimitError, type Verdict, writeRefusalFields } from '@sluice/core'
import type { Context, Next } from 'koa'

/** Carries out a verdict: fields on every response, then on to the application or refused. */
export async function apply(
  gate: Gate<Context, Context>,
  verdict: Verdict | undefined,
  ctx: Context,
  next: Next,
): Promise<unknown> {
  if (verdict === undefined) return next()
  ctx.state.rateLimit = verdict.decision
  const headers: Record<string, string> = {}
  const set = (name: string, value: string) => {
    headers[name] = value
    ctx.set(name, value)
  }
  gate.writeFields(verdict, ctx, set)
  if (verdict.refusal !== undefined) {
    writeRefusalFields(verdict.refusal, set)
    return refuse(gate, verdict, ctx, headers)
  }
  return (await gate.admit(verdict, ctx, ctx)) ? next() : undefined
}

async function refuse(
  { options: { respond } }: Gate<Context, Context>,
  { decision, refusal }: Verdict,
  ctx: Context,
  headers: Record<string, string>,
): Promise<unknown> {
  if (refusal === undefined) return undefined
  // Koa's error handler starts from an empty response and sets the error's own headers.
  if (respond === 'throw') throw new RateLimitError(refusal, decision, headers)
  ctx.status = refusal.status
  if (respond !== undefined) return respond(decision, ctx, ctx)
  ctx.set('Content-Type', refusal.mediaType)
  ctx.body = refusal.body
  return undefined
}
