import { expect, test } from '@jest/globals'
import { printable, printableLines, printableReport } from './printable.ts'

const text = 'a\u0000\u001b[31m\u007f\u009b\u202egnp\u2066\u200e\u061c\u2028é😀\ud800\tb\r\nc\\'
const shown =
  'a\\u0000\\u001b[31m\\u007f\\u009b\\u202egnp\\u2066\\u200e\\u061c\\u2028é😀\\ud800\\tb\\r\\nc\\'

test('control characters, turns of direction and halves of characters are shown, not obeyed', () => {
  expect(printable(text)).toBe(shown)
  expect(printable(shown)).toBe(shown)
})

test('a message keeps its lines, of which only the first begins at the margin', () => {
  expect(printableLines('one\u001b\ntwo\rthree')).toBe('one\\u001b\n  two\\rthree')
})

test('of a report every text and name is printable, and everything else is as it was', () => {
  const report = { text, all: [text, { [text]: text }], number: 1, nothing: undefined, flag: false }
  const all = [shown, { [shown]: shown }]
  expect(printableReport(report)).toEqual({ ...report, text: shown, all })
})
