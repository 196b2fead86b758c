import { expect, test } from '@jest/globals'
import { memoryStore } from '../../index.ts'
import type { Documents, Store } from '../store.ts'
import { linesOf, writeDocument } from './document.ts'
import { sharedDocumentsOf } from './shared-documents.ts'

/** A store that says no to the first writes though it has made them, as to a client that sends each twice. */
function resending(times: number): Store {
  const store = memoryStore()
  const documents = store.documents as Documents<'sync'>
  const replace: Documents<'sync'>['replace'] = (...write) => {
    const isDone = documents.replace(...write)
    times -= 1
    return times < 0 && isDone
  }
  return {
    mode: 'sync',
    open: (keyspaces, prefix) => store.open(keyspaces, prefix),
    documents: { read: (...what) => documents.read(...what), replace },
    close: () => store.close(),
  }
}

test('a change that is sent twice, because its reply was lost, is made once', async () => {
  const documents = sharedDocumentsOf(resending(1), 'once')
  const append = () => (text: string) => ({
    text: writeDocument([...linesOf(text), 'more']),
    ttlMs: 60_000,
  })
  await documents.change('policies', 'set', append)
  await documents.change('policies', 'set', append)
  expect(linesOf((await documents.read('policies')).text)).toEqual(['more', 'more'])
})
