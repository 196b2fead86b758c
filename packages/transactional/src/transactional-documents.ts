import type { Documents } from '@sluice/core'
import { documentKey, versionOf } from '@sluice/core/internal-stores'
import type { ListedKey, ListingBackend, TransactionalBackend } from './transactional-backend.ts'

/** The longest that a call may take, ms. */
const WITHIN_MS = 5000

/**
 * Keeps each document under a key, and its version under another, so that to see that nothing has changed takes a
 * few bytes. A backend that can list its keys reads without a lock.
 */
export function transactionalDocuments(
  backend: TransactionalBackend & Partial<ListingBackend>,
): Documents<'async'> {
  const keysOf = (prefix: string, name: string) =>
    [documentKey(prefix, name), `${documentKey(prefix, name)}-version`] as const
  const reading = async (key: string) => {
    if (backend.list === undefined) {
      const look = (states: readonly (Uint8Array | undefined)[], at: number) => {
        return { changes: [], value: { text: textOf(states[0]), at } }
      }
      return backend.transact([key], look, WITHIN_MS)
    }
    // A few more keys may begin with it.
    const range = { after: key.slice(0, -1), before: `${key} `, count: 10 }
    const { keys, now } = await backend.list(range)
    return { text: textOf(keys.find((each: ListedKey) => each.key === key)?.state), at: now }
  }
  /** Texts that do not begin with their versions, by their keys: somebody has written them by hand. */
  const apart = new Map<string, string>()
  return {
    async read(prefix, name, known) {
      const [key, versionKey] = keysOf(prefix, name)
      if (known === '') return reading(key)
      const { text: version, at } = await reading(versionKey)
      if (version === known || apart.get(key) === `${version} ${known}`)
        return { text: undefined, at }
      const read = await reading(key)
      apart.set(key, `${version} ${versionOf(read.text)}`)
      return read
    },
    replace(prefix, name, known, text, ttlMs) {
      const keys = keysOf(prefix, name)
      const version = versionOf(text)
      return backend.transact(
        keys,
        (states) => {
          if (versionOf(textOf(states[0])) !== known) return { changes: [], value: false }
          const kept = [text, version].map(bytesOf)
          const changes = keys.map((key, i) => ({ key, state: kept[i], ttlMs }))
          return { changes, value: true }
        },
        WITHIN_MS,
      )
    },
  }
}

function textOf(bytes: Uint8Array | undefined): string {
  return new TextDecoder().decode(bytes)
}

function bytesOf(text: string): Uint8Array | undefined {
  return text === '' ? undefined : new TextEncoder().encode(text)
}
