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
  return goesOn === true ? goOn(ctx, next) : wait(goesOn, ctx, next)
}

async function wait(
  goesOn: boolean | Promise<boolean>,
  ctx: Context,
  next: Next,
): Promise<unknown> {
  return (await goesOn) ? goOn(ctx, next) : undefined
}

/**
 * Koa's error handler starts from an empty response and sets the error's own `headers`: an error
 * of the application's takes the fields with it, so that every response has them.
 */
function goOn(ctx: Context, next: Next): Promise<unknown> {
  return next().catch((error: unknown) => {
    if (error instanceof Error && Object.isExtensible(error)) {
      const own = (error as { headers?: object }).headers
      Object.assign(error, { headers: { ...fieldsOf(ctx, FIELDS), ...own } })
    }
    throw error
  })
}

function refuse(
  { options: { respond } }: Gate<Context, Context>,
  { decision }: Verdict,
  refusal: Refusal,
  ctx: Context,
): unknown {
  writeRefusalFields(refusal, (name, value) => ctx.set(name, value))
  if (respond === 'throw') {
    const headers = fieldsOf(ctx, [...FIELDS, 'Retry-After', 'Cache-Control'])
    throw new RateLimitError(refusal, decision, headers)
  }
  ctx.status = refusal.status
  if (respond !== undefined) return respond(decision, ctx, ctx)
  ctx.set('Content-Type', refusal.mediaType)
  ctx.body = refusal.body
  return undefined
}

/** What limiters write, by whatever profile. */
const FIELDS = exposedHeaders(['draft-11', 'draft-6', 'legacy']).filter(
  (name) => name !== 'Retry-After',
)

function fieldsOf(ctx: Context, names: readonly string[]): Record<string, string> {
  const set = names.filter((name) => ctx.res.hasHeader(name))
  return Object.fromEntries(set.map((name) => [name, ctx.response.get(name)]))
}
