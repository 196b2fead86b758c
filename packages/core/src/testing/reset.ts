import { forgetDocuments } from '../stores/documents/shared-documents.ts'
import { forgetAll } from '../stores/resilient/resilience.ts'

/**
 * Forgets what this process remembers of every remote store: refusals, for up to 2 s, blocked networks, and what it has
 * counted by itself while a store failed. It holds for all limiters, those made later too. Call it between
 * tests, after you have emptied the store. The store itself, and memory stores, stay as they are.
 */
export function reset(): void {
  forgetAll()
  forgetDocuments()
}
