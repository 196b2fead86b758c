import { fetchExchange, type RequestAdapter } from '@sluice/core/adapter'
import { type ShedLoadOptions as CoreOptions, LoadShedder } from '@sluice/core/overload'
import type { Context, MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { type AddressOption, readAddress } from './address.ts'
import { HonoReply } from './hono-reply.ts'

export type { ClassOptions, OverloadEvent, QueueOptions } from '@sluice/core/overload'

export type ShedLoadOptions<Class extends string = string> = CoreOptions<Context, Class> & {
  /**
   * The client's address, from the runtime: `(c) => getConnInfo(c).remote.address`. Without it, and without a `key`
   * function, requests of a class wait in the order in which they came, whoever sent them.
   */
  address?: AddressOption<[c: Context]> | undefined
}

/**
 * Admits the requests that this process can serve, and refuses the others with 503, the least important first:
 * `app.use(shedLoad())`. Use it before everything else, also before `rateLimit`.
 *
 * @throws SluiceError if an option is unknown, of the wrong type, out of range, or contradicts another
 */
export function shedLoad<Class extends string = string>(
  options: ShedLoadOptions<Class> = {},
): MiddlewareHandler {
  const given = readAddress<[Context]>(options)
  const { address: _, ...rest } = options as ShedLoadOptions
  const isUntold = given === undefined && rest.key === undefined && rest.trustProxy === undefined
  const shedder = new LoadShedder<Context, HonoReply>(
    isUntold ? { ...rest, key: () => 'all' } : rest,
    adapterWith(given ?? (() => undefined)),
  )
  return async (c, next) => {
    const reply = new HonoReply(c)
    const passed = shedder.handle(c, reply)
    if (passed !== true && !(await passed)) return
    try {
      await next()
      const answered = reply.answered()
      if (answered !== undefined) await answered
    } catch (error) {
      reply.failed()
      throw error
    }
  }
}

function adapterWith(address: AddressOption<[Context]>): RequestAdapter<Context, HonoReply> {
  return {
    ...fetchExchange((c) => c.req.raw, address),
    address,
    identity: (c) => c,
    proxyTrust: () => 'nobody',
    user: (c) => c.get('user') ?? c.get('jwtPayload'),
    path: (c) => c.req.path,
    route: (c) => matchedRoutes(c).findLast(({ method }) => method !== 'ALL')?.path,
  } as RequestAdapter<Context, HonoReply>
}

export default shedLoad
