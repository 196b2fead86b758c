import { type HttpLimiter, RateLimitError, type Verdict, writeRefusalFields } from '@sluice/core'
import type { FastifyReply, FastifyRequest } from 'fastify'

type Done = (error?: Error) => void

/** Carries out a verdict: fields on every response, then on to the application or refused. */
export function apply(
  httpLimiter: HttpLimiter<FastifyRequest, FastifyReply>,
  verdict: Verdict | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
  done: Done,
): void {
  if (verdict === undefined) {
    done()
    return
  }
  request.rateLimit = verdict.decision
  httpLimiter.writeFields(verdict, reply, (name, value) => reply.header(name, value))
  if (verdict.refusal !== undefined) {
    refuse(httpLimiter, verdict, request, reply, done)
    return
  }
  const goesOn = httpLimiter.admit(verdict, request, reply)
  if (goesOn === true) done()
  // Hijacked: there is nobody left to reply to.
  else
    Promise.resolve(goesOn)
      .then((turn) => (turn ? done() : reply.hijack()))
      .catch(done)
}

function refuse(
  { options: { respond } }: HttpLimiter<FastifyRequest, FastifyReply>,
  { decision, refusal }: Verdict,
  request: FastifyRequest,
  reply: FastifyReply,
  done: Done,
): void {
  if (refusal === undefined) return
  const headers: Record<string, string> = {}
  writeRefusalFields(refusal, (name, value) => {
    headers[name] = value
    reply.header(name, value)
  })
  if (respond === 'throw') {
    done(new RateLimitError(refusal, decision, headers))
    return
  }
  reply.code(refusal.status)
  if (respond !== undefined) {
    // As of a handler: what it returns is sent.
    Promise.resolve(respond(decision, request, reply))
      .then((payload) => payload === undefined || reply.sent || reply.send(payload))
      .catch(done)
    return
  }
  // As bytes: to text Fastify would add a charset, which JSON does not have.
  reply.header('Content-Type', refusal.mediaType).send(Buffer.from(refusal.body))
}
