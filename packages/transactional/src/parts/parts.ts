import { MissingKeys } from '../growing-transactions.ts'

/** No keyspace begins with it, so no key of a client is that of a part. */
const MARK = '#'

/** The key of a part of a state, which sorts beside those of the other parts. @param name the key of the state */
export function partKey(name: string, id: number): string {
  const end = keyspaceAt(name)
  const digits = id.toString(16).padStart(2, '0')
  return `${name.slice(0, end)}${MARK}${name.slice(end)}${MARK}${digits}`
}

/** All keys of parts of a state are between these two. */
export function partRange(name: string): { readonly after: string; readonly before: string } {
  const all = partKey(name, 0).slice(0, -2)
  return { after: all, before: `${all}~` }
}

/** Whether a key is that of a part. */
export function isPart(key: string): boolean {
  return key.startsWith(`}:${MARK}`, key.indexOf('}:'))
}

/** Where the name of the keyspace begins: behind the client, whose id has no braces. */
function keyspaceAt(name: string): number {
  return name.indexOf('}:') + 2
}

/** The parts of one state that a transaction has read. */
export class Parts {
  readonly #name: string
  readonly #bytes: ReadonlyMap<string, Uint8Array | undefined>

  /**
   * @param name the key of the state
   * @param bytes the bytes under the keys of the transaction
   */
  constructor(name: string, bytes: ReadonlyMap<string, Uint8Array | undefined>) {
    this.#name = name
    this.#bytes = bytes
  }

  key(id: number): string {
    return partKey(this.#name, id)
  }

  /** The keys of those that there are. */
  found(): string[] {
    const { after, before } = partRange(this.#name)
    const keys = [...this.#bytes.keys()].filter((key) => key > after && key < before)
    return keys.filter((key) => this.#bytes.get(key) !== undefined)
  }

  has(id: number): boolean {
    return this.#bytes.has(this.key(id))
  }

  /** @throws MissingKeys if the transaction has not read all of these */
  need(ids: readonly number[]): void {
    const missing = ids.filter((id) => !this.has(id))
    if (missing.length > 0) throw new MissingKeys(missing.map((id) => this.key(id)))
  }

  /** @throws MissingKeys if the transaction has not read it */
  get(id: number): Uint8Array | undefined {
    this.need([id])
    return this.#bytes.get(this.key(id))
  }
}
