import { expect, test } from '@jest/globals'
import { roundTripsOf } from './round-trips.ts'
import { Statements } from './statements.ts'

test.each(['26000', '42P05'])(
  'a pooler that keeps no statements gets them without names from its first error on: %s',
  async (code) => {
    const names: (string | undefined)[] = []
    const { write } = roundTripsOf(new Statements('public', false))({
      query: async ({ name }: { name?: string | undefined }) => {
        names.push(name)
        if (name !== undefined) throw Object.assign(new Error('not kept'), { code })
        return { rows: [['5']] }
      },
    } as never)
    const change = { key: 'key', state: new Uint8Array(8), ttlMs: 1 }
    for (let i = 0; i < 2; i += 1)
      expect(
        await write([{ key: 'key', found: undefined, change }], 5, { from: 0, until: 9 }, 1),
      ).toBe(5)
    expect(names).toEqual([expect.any(String), undefined, undefined])
  },
)
