import { Redis, type RedisOptions } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'

/** What both majors of ioredis offer, as far as the tests go. */
export type Client = Redis

/** The options of both majors that change how commands are sent, or what replies look like. */
const ways: Record<string, RedisOptions> = {
  'as it is': {},
  'with a keyPrefix': { keyPrefix: 'app:' },
  'with a keyPrefix in braces': { keyPrefix: '{app}:' },
  'with automatic pipelining': { enableAutoPipelining: true },
  'with numbers as strings': { stringNumbers: true },
  'with RESP2': { protocol: 2 },
  'that connects lazily': { lazyConnect: true },
  'on another database': { db: 3 },
}

export const majors = [
  ['ioredis 6', (url: string, options: RedisOptions) => new Redis(url, options)],
  ['ioredis 5', (url: string, options: RedisOptions) => new Redis5(url, options as never) as never],
] as const satisfies readonly (readonly [string, (url: string, options: RedisOptions) => Client])[]

export const clients = majors.flatMap(([major, connect]) =>
  Object.entries(ways).map(
    ([way, options]) => [`${major} ${way}`, (url: string) => connect(url, options)] as const,
  ),
)

/** All of a client that a store could have altered: compare it before and after. */
export function picture(client: object): unknown {
  const events = (client as Client)
    .eventNames()
    .map((event) => [event, (client as Client).listeners(event as string)])
  const prototypes = []
  for (let each = Object.getPrototypeOf(client); each; each = Object.getPrototypeOf(each)) {
    prototypes.push(Object.getOwnPropertyDescriptors(each))
  }
  const options = { ...(client as Client).options }
  return { own: Reflect.ownKeys(client), events, options, prototypes }
}
