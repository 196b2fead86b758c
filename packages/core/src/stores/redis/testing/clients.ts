import {
  Decoder,
  GlideClient,
  type GlideClientConfiguration,
  ProtocolVersion,
} from '@valkey/valkey-glide'
import { Redis, type RedisOptions } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import * as iovalkey from 'iovalkey'
import * as redis6 from 'redis'
import * as redis5 from 'redis5'
import type { RedisClient } from '../../../index.ts'
import {
  addressed,
  addressOf,
  type Connect,
  type NodeRedis,
  ofGlide,
  ofIoRedis,
  ofNodeRedis,
  ofUpstash,
} from './every-client.ts'

/** The methods of ioredis 5 and 6 and iovalkey that the tests use. */
export type Client = Redis

/** The options of clients that change how commands are sent, or what replies look like. */
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
  [
    'iovalkey',
    (url: string, options: RedisOptions) => new iovalkey.Redis(url, options as never) as never,
  ],
] as const satisfies readonly (readonly [string, (url: string, options: RedisOptions) => Client])[]

type Way = (url: string) => RedisClient & NodeRedis

const nodeRedisWays: Record<string, Way> = {
  'node-redis 6 as it is': (url) => redis6.createClient({ url }),
  'node-redis 6 with RESP2': (url) => redis6.createClient({ url, RESP: 2 }),
  'node-redis 6 with a keyPrefix': (url) => redis6.createClient({ url, keyPrefix: 'app:' }),
  'node-redis 6 on another database': (url) => redis6.createClient({ url, database: 3 }),
  'node-redis 6 with a timeout': (url) =>
    redis6.createClient({ url }).withCommandOptions({ timeout: 5_000 }),
  'node-redis 6 with numbers as strings': (url) =>
    redis6.createClient({ url }).withTypeMapping({ [redis6.RESP_TYPES.NUMBER]: String }),
  'node-redis 6 with texts as buffers': (url) =>
    redis6.createClient({ url }).withTypeMapping({ [redis6.RESP_TYPES.BLOB_STRING]: Buffer }),
  'a pool of node-redis 6': (url) => redis6.createClientPool({ url }),
  'node-redis 5 as it is': (url) => redis5.createClient({ url }),
  'node-redis 5 with RESP3': (url) => redis5.createClient({ url, RESP: 3 }),
  'node-redis 5 with numbers as strings': (url) =>
    redis5.createClient({ url }).withTypeMapping({ [redis5.RESP_TYPES.NUMBER]: String }),
  'a pool of node-redis 5': (url) => redis5.createClientPool({ url }),
}

const glideWays: Record<string, Partial<GlideClientConfiguration>> = {
  'as it is': {},
  'with RESP2': { protocol: ProtocolVersion.RESP2 },
  'with texts as buffers': { defaultDecoder: Decoder.Bytes },
  'that connects lazily': { lazyConnect: true },
  'on another database': { databaseId: 3 },
}

const upstashWays = {
  'as it is': {},
  'without automatic pipelining': { enableAutoPipelining: false },
  'that does not parse replies': { automaticDeserialization: false },
  'without an encoding of replies': { responseEncoding: false },
  'with none of these': {
    enableAutoPipelining: false,
    automaticDeserialization: false,
    responseEncoding: false,
  },
} as const

/** Clients of one server, made and used in every way that changes commands or replies. */
export const clients: readonly Connect<string>[] = [
  ...majors.flatMap(([major, connect]) =>
    Object.entries(ways).map(
      ([way, options]): Connect<string> => [
        `${major} ${way}`,
        async (url) => ofIoRedis(connect(url, options)),
      ],
    ),
  ),
  ...Object.entries(nodeRedisWays).map(
    ([way, create]): Connect<string> => [way, (url) => ofNodeRedis(create(url))],
  ),
  ...Object.entries(glideWays).map(
    ([way, options]): Connect<string> => [
      `valkey-glide 2 ${way}`,
      (url) => ofGlide(GlideClient.createClient({ ...addressed(addressOf(url)), ...options })),
    ],
  ),
  ...Object.entries(upstashWays).map(
    ([way, options]): Connect<string> => [
      `@upstash/redis ${way}`,
      (url) => ofUpstash(url, options),
    ],
  ),
]

/** Everything about a client that a store could have altered: compare it before and after. */
export function picture(client: object): unknown {
  const { eventNames } = client as Partial<Client>
  const names = eventNames?.call(client) ?? []
  const events = names.map((event) => [event, (client as Client).listeners(event as string)])
  const prototypes = []
  for (let each = Object.getPrototypeOf(client); each; each = Object.getPrototypeOf(each)) {
    const described = Object.entries(Object.getOwnPropertyDescriptors(each))
    // A pool closes its further connections later.
    prototypes.push(described.filter(([name]) => name !== 'cleanupTimeout'))
  }
  const options = { ...(client as Client).options }
  return { own: Reflect.ownKeys(client), events, options, prototypes }
}
