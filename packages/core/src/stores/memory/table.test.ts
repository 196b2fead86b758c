import { expect, it } from '@jest/globals'
import { digest } from '../../key/digest.ts'
import { held } from '../../testing/held.ts'
import { Table } from './table.ts'

const long = 'x'.repeat(100_000)

it('keeps no more of a key than 256 characters, whatever its source', () => {
  const table = new Table(10)
  for (const key of ['a', 'y'.repeat(256), 'y'.repeat(257), long]) {
    const row = table.add(key)
    expect(table.rows.key(row)?.length).toBeLessThanOrEqual(256)
    expect(table.find(key)).toBe(row)
  }
  table.delete(long)
  expect([table.find(long), table.size]).toEqual([-1, 3])
})

it('distinguishes long keys, and other keys that look like their digests', () => {
  const table = new Table(10)
  const keys = [`${long}a`, `${long}b`, digest(`${long}a`), digest(digest(`${long}a`))]
  expect(new Set(keys.map((key) => table.add(key))).size).toBe(4)
  expect(new Set(keys.map((key) => table.find(key))).size).toBe(4)
})

it('keeps nothing of the text that a key is a part of, such as a header', async () => {
  const taken = await held(() => {
    const table = new Table(1000)
    for (let i = 0; i < 300; i += 1) {
      const header = Buffer.from(`Bearer key-of-client-${i} `.padEnd(100_000, 'x')).toString()
      table.add(header.split(' ')[1] as string)
    }
    return table
  })
  expect(taken).toBeLessThan(2)
})
