import { describe, expect, it } from '@jest/globals'
import { KeyState } from '../../algorithms/algorithm.ts'
import { digest } from '../../key/digest.ts'
import { held } from '../../testing/held.ts'
import { OwnTable } from './own-table.ts'
import { EXHAUSTED, OVERFLOW, Table } from './table.ts'

const tableFor = (maxKeys: number) => {
  const own = new OwnTable('sluice', 'own:policy', { value: 0, most: maxKeys })
  return new Table(maxKeys, 'sluice', 'policy', own)
}
const long = 'x'.repeat(100_000)

it('keeps no more of a key than 256 characters, whatever its source', () => {
  const table = tableFor(10)
  for (const key of ['a', 'y'.repeat(256), 'y'.repeat(257), long]) {
    const row = table.add(key)
    expect(table.key(row)?.length).toBeLessThanOrEqual(256)
    expect(table.find(key)).toBe(row)
  }
  table.delete(long)
  expect([table.find(long), table.size]).toEqual([-1, 3])
})

it('distinguishes long keys, and other keys that look like their digests', () => {
  const table = tableFor(10)
  const keys = [`${long}a`, `${long}b`, digest(`${long}a`), digest(digest(`${long}a`))]
  expect(new Set(keys.map((key) => table.add(key))).size).toBe(4)
  expect(new Set(keys.map((key) => table.find(key))).size).toBe(4)
})

it('keeps nothing of the text that a key is a part of, such as a header', async () => {
  const taken = await held(() => {
    const table = tableFor(1000)
    for (let i = 0; i < 300; i += 1) {
      const header = Buffer.from(`Bearer key-of-client-${i} `.padEnd(100_000, 'x')).toString()
      table.add(header.split(' ')[1] as string)
    }
    return table
  })
  expect(taken).toBeLessThan(2)
})

const NOW = 1_800_000_000_000
/** Rows of a page. */
const PAGE = 4096

/** Rows with `count` keys, the n-th of which can be freed `resetMs(n)` from now. */
function filled(count: number, resetMs: (n: number) => number, usage = 1): Table {
  const rows = tableFor(1_000_000)
  const state = new KeyState()
  for (let n = 0; n < count; n += 1) {
    rows.save(rows.add(`client-${n}`), state, NOW, resetMs(n), usage)
  }
  return rows
}

const pagesOf = (found: readonly number[]) => new Set(found.map((row) => row >> 12))

describe('a look for expired rows', () => {
  it('is over one page, for as many as were asked for, whatever the number of keys', () => {
    const rows = filled(50_000, () => 1000)
    const found = rows.expired(NOW + 1000, 256)
    expect(found).toHaveLength(256)
    expect(pagesOf(found).size).toBe(1)
  })

  it('comes to every page once, and then knows when there will be more', () => {
    const rows = filled(50_000, (n) => (n === 30_000 ? 2000 : 1000))
    const seen = new Set<number>()
    let looks = 0
    for (; rows.dueAt <= NOW + 1000; looks += 1) {
      for (const row of rows.expired(NOW + 1000, PAGE)) {
        seen.add(row)
        rows.free(row)
      }
    }
    expect(seen.size).toBe(49_999)
    expect(looks).toBe(Math.ceil(50_001 / PAGE) + 1)
    expect(rows.dueAt).toBe(NOW + 2000)
  })

  it('finds nothing before the time', () => {
    const rows = filled(10, (n) => 1000 + n)
    expect(rows.expired(NOW + 999, 256)).toEqual([])
    expect(rows.expired(NOW + 1000, 256)).toEqual([1])
    expect(rows.expired(NOW + 1001, 256)).toEqual([1, 2])
  })
})

describe('the key nearest to a full quota', () => {
  it('is none while every key is exhausted, and never the overflow', () => {
    const rows = filled(10_000, () => 1000, EXHAUSTED)
    rows.save(OVERFLOW, new KeyState(), NOW, 0, 3)
    expect(rows.best()).toBe(-1)
    rows.setUsage(7000, 254)
    expect(rows.best()).toBe(7000)
    rows.setUsage(7000, EXHAUSTED)
    expect(rows.best()).toBe(-1)
  })

  it('is looked for on one page, another one each time', () => {
    const rows = filled(3 * PAGE - 1, () => 1000, 9)
    for (const row of [100, PAGE + 100, 2 * PAGE + 100]) rows.setUsage(row, 4)
    const found = [rows.best(), rows.best(), rows.best()]
    expect(found.sort((a, b) => a - b)).toEqual([100, PAGE + 100, 2 * PAGE + 100])
  })

  it('is none that was released', () => {
    const rows = filled(2, () => 1000, 9)
    rows.setUsage(1, 0)
    rows.free(1)
    expect(rows.best()).toBe(2)
    rows.free(2)
    expect(rows.best()).toBe(-1)
  })
})

describe('rows', () => {
  it('keep every state while the first page grows', () => {
    const rows = tableFor(1_000_000)
    const state = new KeyState()
    for (let n = 1; n <= PAGE + 10; n += 1) {
      state.a = n
      state.b = -n
      rows.save(rows.add(`client-${n}`), state, NOW, n, n % EXHAUSTED)
    }
    for (let n = 1; n <= PAGE + 10; n += 1) {
      rows.load(n, state)
      const kept = [rows.key(n), state.a, state.b, rows.usage(n)]
      expect(kept).toEqual([`client-${n}`, n, -n, n % EXHAUSTED])
    }
    expect(rows.spare).toBe(PAGE + 10)
    expect(rows.expired(NOW + 3, PAGE)).toEqual([1, 2, 3])
  })

  it('are claimed again in the state of a key never seen', () => {
    const rows = filled(5000, () => 1000)
    const state = new KeyState()
    state.a = state.b = state.c = 7
    rows.save(4000, state, NOW, 0, 0)
    for (const row of [3, 4000, 17]) rows.free(row)
    const claimed = ['x', 'y', 'z', 'new'].map((key) => rows.add(key))
    expect(claimed).toEqual([17, 4000, 3, 5001])
    for (const row of claimed) {
      rows.load(row, state)
      expect([state.a, state.b, state.c, state.log]).toEqual([0, 0, 0, undefined])
      expect(rows.usage(row)).toBe(EXHAUSTED)
    }
  })
})
