/** What a key holds: text, one character for each byte; or a sorted set, the score of each member. Neither changes. */
export type RedisValue = string | ReadonlyMap<string, number>

/** The keys of a server, as a script finds them. */
export interface Keys {
  /** The server's clock, integer ms since the epoch. */
  now(): number
  /** What a key holds that has not expired. */
  read(key: string): RedisValue | undefined
  /** When it expires, ms since the epoch; Infinity: never. */
  expiryOf(key: string): number
  write(key: string, value: RedisValue | undefined, expiresAt: number): void
}

/** What Redis replies with in place of a value. */
export class ErrorReply extends Error {}

/** What a command replies with. Null: there is nothing; `ok`: a status */
export type RedisReply = string | number | null | { readonly ok: string } | readonly RedisReply[]

type Command = (keys: Keys, args: readonly string[]) => RedisReply

const OK = { ok: 'OK' }

/** The commands that Sluice's scripts call, as Redis 6.2 has them. */
const COMMANDS: { readonly [name: string]: Command } = {
  TIME: (keys) => {
    const now = keys.now()
    return [`${Math.floor(now / 1000)}`, `${(now % 1000) * 1000}`]
  },
  GET: (keys, [key = '']) => textOf(keys, key) ?? null,
  MGET: (keys, names) =>
    names.map((key) => {
      const value = keys.read(key)
      return typeof value === 'string' ? value : null
    }),
  GETRANGE(keys, [key = '', first = '', last = '']) {
    const text = textOf(keys, key) ?? ''
    const place = (given: string) => {
      const index = integer(given)
      return index < 0 ? Math.max(0, text.length + index) : index
    }
    return text.slice(place(first), place(last) + 1)
  },
  SETRANGE(keys, [key = '', offset = '', bytes = '']) {
    const text = textOf(keys, key) ?? ''
    const from = integer(offset)
    if (bytes === '') return text.length
    const written = text.slice(0, from).padEnd(from, '\0') + bytes + text.slice(from + bytes.length)
    keys.write(key, written, keys.expiryOf(key))
    return written.length
  },
  SET(keys, [key = '', value = '', option, ms = '']) {
    if (option === 'KEEPTTL') keys.write(key, value, keys.expiryOf(key))
    else if (option === 'PX') keys.write(key, value, keys.now() + lifetime(ms))
    else if (option === undefined) keys.write(key, value, Infinity)
    else throw new ErrorReply('ERR syntax error')
    return OK
  },
  DEL(keys, names) {
    const known = names.filter((key) => keys.read(key) !== undefined)
    for (const key of known) keys.write(key, undefined, 0)
    return known.length
  },
  PEXPIRE(keys, [key = '', ms = '']) {
    const value = keys.read(key)
    if (value === undefined) return 0
    const left = integer(ms)
    keys.write(key, left > 0 ? value : undefined, keys.now() + left)
    return 1
  },
  ZADD: addMembers,
  ZSCORE(keys, [key = '', member = '']) {
    const score = membersOf(keys, key).get(member)
    return score === undefined ? null : scoreText(score)
  },
  ZCOUNT(keys, [key = '', least = '', most = '']) {
    const [from, to] = [number(least), number(most)]
    let count = 0
    for (const score of membersOf(keys, key).values()) if (score >= from && score <= to) count += 1
    return count
  },
  ZRANGE: rangeOf,
  ZREM(keys, [key = '', ...members]) {
    const left = new Map(membersOf(keys, key))
    const before = left.size
    for (const member of members) left.delete(member)
    if (left.size < before) keys.write(key, left.size === 0 ? undefined : left, keys.expiryOf(key))
    return before - left.size
  },
}

/** @throws ErrorReply */
export function execute(keys: Keys, [name = '', ...args]: readonly string[]): RedisReply {
  const command = COMMANDS[name]
  if (command === undefined) throw new ErrorReply(`ERR unknown command '${name}'`)
  return command(keys, args)
}

function addMembers(keys: Keys, [key = '', ...args]: readonly string[]): RedisReply {
  const isGreater = args[0] === 'GT'
  const isAdded = args[0] === 'INCR'
  const pairs = isGreater || isAdded ? args.slice(1) : args
  if (pairs.length === 0 || pairs.length % 2 !== 0) throw new ErrorReply('ERR syntax error')
  const members = new Map(membersOf(keys, key))
  const before = members.size
  for (let i = 0; i < pairs.length; i += 2) {
    const member = pairs[i + 1] as string
    const score = number(pairs[i] as string)
    const known = members.get(member)
    if (isAdded) members.set(member, (known ?? 0) + score)
    else if (!isGreater || known === undefined || score > known) members.set(member, score)
  }
  keys.write(key, members, keys.expiryOf(key))
  return isAdded ? scoreText(members.get(pairs[1] as string) as number) : members.size - before
}

/** Members in the order of their scores, and of their bytes. */
function rangeOf(
  keys: Keys,
  [key = '', first = '', last = '', ...options]: readonly string[],
): RedisReply {
  const isReverse = options.includes('REV')
  const limit = options.indexOf('LIMIT')
  const sorted = [...membersOf(keys, key)].sort(
    ([one, a], [other, b]) => a - b || (one < other ? -1 : 1),
  )
  if (isReverse) sorted.reverse()
  let found: typeof sorted
  if (options.includes('BYSCORE')) {
    const [from, to] = isReverse ? [number(last), number(first)] : [number(first), number(last)]
    found = sorted.filter(([, score]) => score >= from && score <= to)
  } else {
    const place = (given: string) => (integer(given) < 0 ? sorted.length : 0) + integer(given)
    found = sorted.slice(place(first), place(last) + 1)
  }
  if (limit >= 0) {
    const from = integer(options[limit + 1] as string)
    found = found.slice(from, from + integer(options[limit + 2] as string))
  }
  return options.includes('WITHSCORES')
    ? found.flatMap(([member, score]) => [member, scoreText(score)])
    : found.map(([member]) => member)
}

const WRONG_TYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value'

function textOf(keys: Keys, key: string): string | undefined {
  const value = keys.read(key)
  if (value !== undefined && typeof value !== 'string') throw new ErrorReply(WRONG_TYPE)
  return value
}

const NONE: ReadonlyMap<string, number> = new Map()

function membersOf(keys: Keys, key: string): ReadonlyMap<string, number> {
  const value = keys.read(key) ?? NONE
  if (typeof value === 'string') throw new ErrorReply(WRONG_TYPE)
  return value
}

function lifetime(text: string): number {
  const ms = integer(text)
  if (ms <= 0) throw new ErrorReply("ERR invalid expire time in 'set' command")
  return ms
}

function integer(text: string): number {
  if (!/^-?\d{1,19}$/.test(text))
    throw new ErrorReply('ERR value is not an integer or out of range')
  return Number(text)
}

function number(text: string): number {
  const value = Number(text.replace('inf', 'Infinity'))
  if (text === '' || Number.isNaN(value)) throw new ErrorReply('ERR value is not a valid float')
  return value
}

function scoreText(score: number): string {
  return String(score).replace('Infinity', 'inf')
}
