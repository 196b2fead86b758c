import {
  exposedHeaders,
  type Gate,
  RateLimitError,
  type Refusal,
  type Verdict,
  writeRefusalFields,
} from '@sluice/core'
import type { Context, Next } from 'koa'

/** Carries out a verdict: fields on every response, then on to the application or refused. */
export function apply(
  gate: Gate<Context, Context>,
  verdict: Verdict | undefined,
  ctx: Context,
  next: Next,
): unknown {
  if (verdict === undefined) return next()
  ctx.state.rateLimit = verdict.decision
  const sent = ctx.headerSent
  if (!sent) gate.writeFields(verdict, ctx, (name, value) => ctx.set(name, value))
  if (verdict.refusal !== undefined) {
    return sent ? undefined : refuse(gate, verdict, verdict.refusal, ctx)
  }
  const goesOn = gate.admit(verdict, ctx, ctx)
  return goesOn === true ? next() : wait(goesOn, next)
}

async function wait(goesOn: boolean | Promise<boolean>, next: Next): Promise<unknown> {
  return (await goesOn) ? next() : undefined
}

function refuse(
  { options: { respond } }: Gate<Context, Context>,
  { decision }: Verdict,
  refusal: Refusal,
  ctx: Context,
): unknown {
  writeRefusalFields(refusal, (name, value) => ctx.set(name, value))
  if (respond === 'throw') throw new RateLimitError(refusal, decision, fieldsOf(ctx))
  ctx.status = refusal.status
  if (respond !== undefined) return respond(decision, ctx, ctx)
  ctx.set('Content-Type', refusal.mediaType)
  ctx.body = refusal.body
  return undefined
}

const FIELDS = [...exposedHeaders(['draft-11', 'draft-6', 'legacy']), 'Cache-Control']

/** The fields of a refusal: Koa's error handler starts from an empty response and sets the error's. */
function fieldsOf(ctx: Context): Record<string, string> {
  const set = FIELDS.filter((name) => ctx.res.hasHeader(name))
  return Object.fromEntries(set.map((name) => [name, ctx.response.get(name)]))
}
