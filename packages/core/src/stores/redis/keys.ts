import { digest } from '../../key/digest.ts'
import { shardLength } from '../../key/notation.ts'
import { ownKeyspace } from '../inspection/keyspace-name.ts'
import { isOnRefusal } from '../rules/decide-all.ts'
import type { Charge, Keyspace, Requests } from '../store.ts'

/**
 * The most characters of an id that is kept as it is: a longer one becomes a digest, so that no client can
 * make keys grow.
 */
const MAX_PLAIN = 64

/**
 * An id as it stands between the braces of a Redis key, where Redis Cluster takes the hash slot from:
 * of `{acme}user:42`, it takes it from `acme`, the shard of the id, since the name is `…{acme}{user:42}…`.
 * Plain ids and shards stand as they are. Long ones and those with braces, spaces, control or non-ASCII
 * characters become `#` and the SHA-256 of their UTF-16 code units: so two ids never share a key
 * (lone surrogates included), none moves the hash slot of another, and none grows the key. Plain ids
 * hold no `#`.
 */
export function subject(id: string): string {
  if (id.length === 0 || id.length > MAX_PLAIN) return replacement(id)
  for (let i = 0; i < id.length; i += 1) {
    const code = id.charCodeAt(i)
    const isPlain = code > 0x20 && code < 0x7f && code !== 0x23 && code !== 0x7b && code !== 0x7d
    if (!isPlain) return replacement(id)
  }
  return id
}

/** Replaces an id that is not plain. */
function replacement(id: string): string {
  const length = shardLength(id)
  if (length === 0) return digest(id)
  return `${part(id.slice(1, length - 1))}}{${part(id.slice(length))}`
}

/** The shard of an id, or what follows it: braces in it name no further shard. */
export function part(text: string): string {
  return shardLength(text) === 0 ? subject(text) : digest(text)
}

/** The name of a client's key in a remote store. @param space the name of a keyspace, or of what is kept beside it */
export function keyName(prefix: string, client: string, space: string): string {
  return `${prefix}:{${subject(client)}}:${space}`
}

interface Space {
  readonly prefix: string
  readonly name: string
  /** The name under which a client's own record is kept; undefined: clients have none there. */
  readonly own: string | undefined
}

/** The names of clients' keys in the policies of a ledger, by the numbers of these. */
export class KeyNames {
  readonly #spaces: readonly Space[]
  readonly #noted: { shard(): void } | undefined

  /**
   * @param prefix the prefix of the ledger
   * @param noted is called for each key with a shard
   */
  constructor(
    keyspaces: readonly Keyspace[],
    prefix: string,
    noted: { shard(): void } | undefined,
  ) {
    this.#noted = noted
    this.#spaces = keyspaces.map((each) => {
      const own = isOnRefusal(each) ? undefined : ownKeyspace(each.name)
      return { prefix: each.prefix ?? prefix, name: each.name, own }
    })
  }

  /** Where the states of requests are, one after the other. */
  ofRequests(requests: Requests): string[] {
    const names: string[] = []
    for (const charges of requests) {
      for (let i = 0; i < charges.length; i += 1) {
        const { key } = charges[i] as Charge
        const { prefix, name } = this.#spaces[i] as Space
        if (key.startsWith('{')) this.#noted?.shard()
        names.push(`${prefix}:{${subject(key)}}:${name}`)
      }
    }
    return names
  }

  /** Where the state of a client is. */
  state(policy: number, client: string): string {
    if (client.startsWith('{')) this.#noted?.shard()
    const { prefix, name } = this.#spaces[policy] as Space
    return keyName(prefix, client, name)
  }

  /** A key where those of the client are, which no policy has. */
  probe(client: string): string {
    return `${this.#spaces[0]?.prefix}:{${subject(client)}}`
  }

  /** Where its own limit, top-ups and block are. Undefined: no client has any there. */
  own(policy: number, client: string): string | undefined {
    const { prefix, own } = this.#spaces[policy] as Space
    return own && keyName(prefix, client, own)
  }
}
