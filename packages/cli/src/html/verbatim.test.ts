import { expect, test } from '@jest/globals'
import { verbatim } from './verbatim.ts'

test('control characters and turns of direction are shown, not obeyed', () => {
  const text = 'a\u0000\u001b[31m\u202egnp\u2066é😀\ud800'
  const shown = 'a\\u0000\\u001b[31m\\u202egnp\\u2066é😀\\ud800'
  expect(verbatim(text).markup).toBe(`<code><bdi>${shown}</bdi></code>`)
})
