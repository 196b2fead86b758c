import { expect, test } from '@jest/globals'
import type { ListedKey, ListingBackend } from './transactional-backend.ts'
import { transactionalDocuments } from './transactional-documents.ts'

const version = (letter: string) => letter.repeat(16)
const KEY = 'sluice:{#}:policies'

/** Keeps bytes, and notes how many were read. */
function backend() {
  const texts = new Map<string, string>()
  let bytes = 0
  const list: ListingBackend['list'] = async ({ after, before }) => {
    const keys = [...texts]
      .filter(([key]) => key > after && key < before)
      .map(([key, text]) => ({ key, state: new TextEncoder().encode(text) }))
    bytes += keys.reduce((sum, { state }) => sum + state.length, 0)
    return { keys: keys as unknown as ListedKey[], now: 1 }
  }
  const bytesOf = async (act: () => Promise<unknown>) => {
    bytes = 0
    await act()
    return bytes
  }
  return { documents: transactionalDocuments({ list } as never), texts, bytesOf }
}

test('a text that somebody has written without its version is not read each time', async () => {
  const { documents, texts, bytesOf } = backend()
  texts.set(`${KEY}-version`, version('a'))
  texts.set(KEY, `${version('b')}\n${'x'.repeat(1e7)}`)
  const { text = '' } = await documents.read('sluice', 'policies', '')
  const known = text.slice(0, 16)
  const poll = () => documents.read('sluice', 'policies', known)
  await poll()
  expect(await bytesOf(poll)).toBe(16)
  expect((await poll()).text).toBeUndefined()
  texts.set(KEY, `${version('c')}\nnew`)
  texts.set(`${KEY}-version`, version('c'))
  expect((await poll()).text).toBe(`${version('c')}\nnew`)
})
