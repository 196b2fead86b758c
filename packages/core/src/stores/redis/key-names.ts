import { ownKeyspace } from '../inspection/keyspace-name.ts'
import { isOnRefusal } from '../rules/decide-all.ts'
import type { Keyspace } from '../store.ts'
import { subject } from './keys.ts'

/** The name of a client's key in a remote store. @param space the name of a keyspace, or of what is kept beside it */
export function keyName(prefix: string, client: string, space: string): string {
  return `${prefix}:{${subject(client)}}:${space}`
}

interface Space {
  readonly prefix: string
  readonly name: string
  /** Beside it. */
  readonly own: string | undefined
}

/** The names of clients' keys in the policies of a ledger, by the numbers of these. */
export class KeyNames {
  readonly #spaces: readonly Space[]

  /** @param prefix that of the ledger */
  constructor(keyspaces: readonly Keyspace[], prefix: string) {
    this.#spaces = keyspaces.map((each) => {
      const own = isOnRefusal(each) ? undefined : ownKeyspace(each.name)
      return { prefix: each.prefix ?? prefix, name: each.name, own }
    })
  }

  /** Where the client's state is. */
  state(policy: number, client: string): string {
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
