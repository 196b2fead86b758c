import { expect } from 'expect'
import { LIMIT, limitOf, type StoreTests } from './store-kit.ts'

const oddKeys = [
  '__proto__',
  'constructor',
  ' ',
  '\0',
  '\u0001',
  '{',
  '}',
  '{}',
  '{a}',
  'a}b{c',
  ':',
  '#',
  '#aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
  '\ud83d',
  '\ude00',
  '\ud83d\ude00',
  '\ufffd',
  'é',
  'e\u0301',
  'A',
  'a',
  'x'.repeat(64),
  'x'.repeat(65),
  'x'.repeat(100_000),
  `${'x'.repeat(99_999)}y`,
]

export function shares({ test }: StoreTests): void {
  const limit = limitOf('fixed-window')

  test('ledgers of the same space share its quota', async ({ open }) => {
    await open([limit]).consume('client', 2)
    expect(await open([limit]).remaining('client')).toEqual([LIMIT - 2])
  })

  test('another space, another prefix and another key have quotas of their own', async ({
    open,
  }) => {
    const { consume, remaining } = open([limit])
    await consume('client', LIMIT)
    expect(await open([limit], { space: 'q' }).remaining('client')).toEqual([LIMIT])
    expect(await open([limit], { prefix: ':other' }).remaining('client')).toEqual([LIMIT])
    expect(await remaining('other client')).toEqual([LIMIT])
  })

  test('the policies of a ledger are spaces of their own, and each can be shared alone', async ({
    open,
  }) => {
    const { consume } = open([limit, limitOf('token-bucket')])
    await consume('client', 2)
    expect(await open([limit]).remaining('client')).toEqual([LIMIT - 2])
  })

  test('keys of any characters and any length are distinct', async ({ open }) => {
    const { consume, remaining } = open([limit])
    for (const key of oddKeys) await consume(key, 2)
    for (const key of oddKeys) expect(await remaining(key)).toEqual([LIMIT - 2])
  })
}
