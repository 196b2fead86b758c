import { withVerbs } from '@sluice/core/testing'
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
  const fixed = limit.algorithm

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

  test('a space with a prefix of its own is shared with the ledgers of that prefix', async ({
    store,
  }) => {
    const prefix = `own-${process.pid}-${Math.random()}`
    const [policy, common] = ['policy', 'common'].map((name) => ({ name, algorithm: fixed }))
    const ledgerOf = (path: string) =>
      withVerbs(store.open([policy!, { ...common!, prefix }], `${prefix}${path}`))
    const charges = [2, 1].map((cost) => ({ key: 'client', limit, cost }))
    await ledgerOf('.a').consume(charges)
    const remaining = async (ledger: ReturnType<typeof ledgerOf>) => {
      const { outcomes } = await ledger.peek(charges.map((charge) => ({ ...charge, cost: 0 })))
      return outcomes.map((outcome) => outcome.remaining)
    }
    expect(await remaining(ledgerOf('.a'))).toEqual([LIMIT - 2, LIMIT - 1])
    expect(await remaining(ledgerOf('.b'))).toEqual([LIMIT, LIMIT - 1])
    expect(await remaining(withVerbs(store.open([policy!, common!], prefix)))).toEqual([
      LIMIT,
      LIMIT - 1,
    ])
    await ledgerOf('.b').reset('client')
    expect(await remaining(ledgerOf('.a'))).toEqual([LIMIT - 2, LIMIT])
  })

  test('spaces whose names differ in a space or in case are different', async ({ store }) => {
    const prefix = `names-${process.pid}-${Math.random()}`
    const ledgers = ['p', 'p ', 'p  ', 'P', ' p', "p'", 'p"', 'p%', '_', '\\'].map((name) => {
      return withVerbs(store.open([{ name, algorithm: fixed }], prefix))
    })
    for (const [i, ledger] of ledgers.entries()) {
      await ledger.consume([{ key: 'client', limit, cost: 1 + (i % LIMIT) }])
    }
    for (const [i, ledger] of ledgers.entries()) {
      const { outcomes } = await ledger.peek([{ key: 'client', limit, cost: 0 }])
      expect(outcomes[0]!.remaining).toBe(LIMIT - 1 - (i % LIMIT))
    }
  })

  test('keys of any characters and any length are distinct', async ({ open }) => {
    const { consume, remaining } = open([limit])
    for (const key of oddKeys) await consume(key, 2)
    for (const key of oddKeys) expect(await remaining(key)).toEqual([LIMIT - 2])
  })
}
