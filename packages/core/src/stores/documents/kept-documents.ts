import type { Documents } from '../store.ts'
import { documentKey, versionOf } from './document.ts'

/** Keeps documents in this process: few, since there is one for each prefix and name. */
export function keptDocuments(clock: () => number): Documents<'sync'> {
  const texts = new Map<string, string>()
  return {
    read: (prefix, name) => ({ text: texts.get(documentKey(prefix, name)), at: clock() }),
    replace(prefix, name, known, text) {
      const key = documentKey(prefix, name)
      if (versionOf(texts.get(key) ?? '') !== known) return false
      texts.set(key, text)
      return true
    },
  }
}
