import type { Decision, Gate, Refusal, Verdict, WireState } from '@sluice/core'
import type { NextFunction, Request, Response } from 'express'

/** On the response: what the limiters before this one have written into its header fields. */
const WRITTEN = Symbol('sluice.written')

type Limited = Response & { [WRITTEN]?: WireState | undefined }

/** Carries out a verdict: fields on every response, then on to the application or refused. */
export function apply(
  gate: Gate<Request, Response>,
  verdict: Verdict | undefined,
  request: Request,
  response: Limited,
  next: NextFunction,
): void {
  if (verdict !== undefined) {
    request.rateLimit = verdict.decision
    if (!response.headersSent) {
      response[WRITTEN] = gate.writeFields(verdict, response[WRITTEN], (name, value) => {
        response.setHeader(name, value)
      })
      if (verdict.refusal !== undefined) {
        refuse(gate, verdict.decision, verdict.refusal, request, response, next)
        return
      }
    }
  }
  next()
}

function refuse(
  { respond }: Gate<Request, Response>,
  decision: Decision,
  refusal: Refusal,
  request: Request,
  response: Response,
  next: NextFunction,
): void {
  response.statusCode = refusal.status
  response.setHeader('Retry-After', refusal.retryAfter)
  response.setHeader('Cache-Control', 'no-store')
  if (respond !== undefined) {
    void Promise.resolve(respond(decision, request, response)).catch(next)
    return
  }
  response.setHeader('Content-Type', refusal.mediaType)
  response.setHeader('Content-Length', Buffer.byteLength(refusal.body))
  response.end(refusal.body)
}
