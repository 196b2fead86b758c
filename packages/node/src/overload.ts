import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { MaybePromise } from '@sluice/core'
import { type ShedLoadOptions as CoreOptions, LoadShedder } from '@sluice/http/overload'
import { answerFailure } from './failures.ts'
import { nodeAdapter } from './request-adapter.ts'

export type { ClassOptions, OverloadEvent, QueueOptions } from '@sluice/http/overload'

export type ShedLoadOptions<Class extends string = string> = CoreOptions<IncomingMessage, Class>

/**
 * Calls `next` if the request may go on, and answers it otherwise. What it returns resolves when that is done, with
 * what `next` returns. If a function of the options throws, the response has the status 500, and a warning is given
 * once.
 */
export type NodeShedLoad = (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
  next: () => unknown,
) => MaybePromise<void>

/**
 * Admits the requests that this process can serve, and refuses the others with 503, the least important first:
 * `const shed = shedLoad()`, then `createServer((request, response) => shed(request, response, () => …))`.
 *
 * @throws SluiceError if an option is unknown, of the wrong type, out of range, or contradicts another
 */
export function shedLoad<Class extends string = string>(
  options: ShedLoadOptions<Class> = {},
): NodeShedLoad {
  const shedder = new LoadShedder(options as ShedLoadOptions, nodeAdapter)
  const shed = (request: IncomingMessage, response: ServerResponse, next: () => unknown) => {
    const goOn = (goesOn: boolean) => (goesOn ? next() : undefined) as MaybePromise<void>
    let passed: MaybePromise<boolean>
    try {
      passed = shedder.handle(request, response)
    } catch (error) {
      return answerFailure(response, error)
    }
    return passed instanceof Promise ? passed.then(goOn) : goOn(passed)
  }
  return shed as NodeShedLoad
}

export default shedLoad
