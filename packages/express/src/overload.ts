import { type ShedLoadOptions as CoreOptions, LoadShedder } from '@sluice/http/overload'
import type { Request, RequestHandler } from 'express'
import { expressAdapter } from './request-adapter.ts'

export type { ClassOptions, OverloadEvent, QueueOptions } from '@sluice/http/overload'

export type ShedLoadOptions<Class extends string = string> = CoreOptions<Request, Class>

/**
 * Admits the requests that this process can serve, and refuses the others with 503, the least important first:
 * `app.use(shedLoad())`. Use it before everything else, also before `rateLimit`.
 *
 * @throws SluiceError if an option is unknown, of the wrong type, out of range, or contradicts another
 */
export function shedLoad<Class extends string = string>(
  options: ShedLoadOptions<Class> = {},
): RequestHandler {
  const shedder = new LoadShedder(options as ShedLoadOptions, expressAdapter)
  return (request, response, next) => {
    const passed = shedder.handle(request, response)
    if (passed instanceof Promise) void passed.then((goesOn) => goesOn && next())
    else if (passed) next()
  }
}

export default shedLoad
