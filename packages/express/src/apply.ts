import { type HttpLimiter, RateLimitError, type Verdict, writeRefusalFields } from '@sluice/core'
import type { NextFunction, Request, Response } from 'express'

/** Carries out a verdict: fields on every response, then on to the application or refused. */
export function apply(
  httpLimiter: HttpLimiter<Request, Response>,
  verdict: Verdict | undefined,
  request: Request,
  response: Response,
  next: NextFunction,
): void {
  if (verdict === undefined) {
    next()
    return
  }
  request.rateLimit = verdict.decision
  const sent = response.headersSent
  if (!sent)
    httpLimiter.writeFields(verdict, response, (name, value) => response.setHeader(name, value))
  if (verdict.refusal !== undefined) {
    if (!sent) refuse(httpLimiter, verdict, request, response, next)
    return
  }
  const goesOn = httpLimiter.admit(verdict, request, response)
  if (goesOn === true) next()
  else void Promise.resolve(goesOn).then((turn) => turn && next())
}

function refuse(
  { options: { respond } }: HttpLimiter<Request, Response>,
  { decision, refusal }: Verdict,
  request: Request,
  response: Response,
  next: NextFunction,
): void {
  if (refusal === undefined) return
  const headers: Record<string, string> = {}
  writeRefusalFields(refusal, (name, value) => {
    headers[name] = value
    response.setHeader(name, value)
  })
  if (respond === 'throw') {
    next(new RateLimitError(refusal, decision, headers))
    return
  }
  response.statusCode = refusal.status
  if (respond !== undefined) {
    void Promise.resolve(respond(decision, request, response)).catch(next)
    return
  }
  response.setHeader('Content-Type', refusal.mediaType)
  response.setHeader('Content-Length', Buffer.byteLength(refusal.body))
  response.end(refusal.body)
}
