import type { HttpLimiter } from '@sluice/http/adapter'
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { closeAfterResponse } from './handshakes.ts'

/**
 * When requests are decided: `'onRequest'`, before the body is read; `'preValidation'`, after it is
 * parsed; or `'preHandler'`, after it is validated.
 */
export type Hook = 'onRequest' | 'preValidation' | 'preHandler'

/**
 * A route's hook, of any of these kinds. It takes the request and reply of any Fastify server:
 * their types differ between HTTP/1.1 and HTTP/2.
 */
export type HookHandler = (request: object, reply: object, next: HookHandlerDoneFunction) => void

/** @param limiterOf the limiter that decides a request; undefined: none does */
export function handler(
  limiterOf: (request: FastifyRequest) => HttpLimiter<FastifyRequest, FastifyReply> | undefined,
): HookHandler {
  return (given, reply, next) => {
    const request = given as FastifyRequest
    const httpLimiter = limiterOf(request)
    if (httpLimiter === undefined) {
      next()
      return
    }
    closeAfterResponse(request, reply as FastifyReply)
    const passed = httpLimiter.handle(request, reply as FastifyReply)
    if (passed instanceof Promise) passed.then((goesOn) => goesOn && next()).catch(next)
    else if (passed) next()
  }
}
