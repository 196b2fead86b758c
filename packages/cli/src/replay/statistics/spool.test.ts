import { describe, expect, it } from '@jest/globals'
import { Spool } from './spool.ts'

const BLOCK = 16_384

describe('Spool', () => {
  it.each([0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK])(
    'gives back %i requests in their order, as often as asked for',
    (count) => {
      const spool = new Spool()
      for (let i = 0; i < count; i += 1) spool.add(1_795_269_630_000 + i, i % 7, 2 ** 53 - 1 - i)
      for (let pass = 0; pass < 2; pass += 1) {
        let seen = 0
        let right = 0
        spool.forEach((timeMs, client, cost) => {
          const i = seen
          seen += 1
          if (timeMs !== 1_795_269_630_000 + i || client !== i % 7) return
          if (cost === 2 ** 53 - 1 - i) right += 1
        })
        expect([seen, right]).toEqual([count, count])
      }
      spool.close()
    },
  )
})
