import { describe, expect, it } from '@jest/globals'
import { KeyState } from '../../algorithms/algorithm.ts'
import { EXHAUSTED, OVERFLOW, Slots } from './slots.ts'

const NOW = 1_800_000_000_000
/** Slots of a page. */
const PAGE = 4096

/** Slots with `count` keys, the n-th of which can be freed `resetMs(n)` from now. */
function filled(count: number, resetMs: (n: number) => number, usage = 1): Slots {
  const slots = new Slots()
  const state = new KeyState()
  for (let n = 0; n < count; n += 1) {
    slots.save(slots.claim(`client-${n}`), state, NOW, resetMs(n), usage)
  }
  return slots
}

const pagesOf = (found: readonly number[]) => new Set(found.map((slot) => slot >> 12))

describe('a look for expired slots', () => {
  it('is over one page, for as many as were asked for, whatever the number of keys', () => {
    const slots = filled(50_000, () => 1000)
    const found = slots.expired(NOW + 1000, 256)
    expect(found).toHaveLength(256)
    expect(pagesOf(found).size).toBe(1)
  })

  it('comes to every page once, and then knows when there will be more', () => {
    const slots = filled(50_000, (n) => (n === 30_000 ? 2000 : 1000))
    const seen = new Set<number>()
    let looks = 0
    for (; slots.dueAt <= NOW + 1000; looks += 1) {
      for (const slot of slots.expired(NOW + 1000, PAGE)) {
        seen.add(slot)
        slots.release(slot)
      }
    }
    expect(seen.size).toBe(49_999)
    expect(looks).toBe(Math.ceil(50_001 / PAGE) + 1)
    expect(slots.dueAt).toBe(NOW + 2000)
  })

  it('finds nothing before the time, and after it blocked keys too', () => {
    const slots = filled(10, (n) => 1000 + n)
    slots.block(slots.claim('blocked'), NOW + 500)
    expect(slots.expired(NOW + 499, 256)).toEqual([])
    expect(slots.expired(NOW + 500, 256)).toEqual([11])
    expect(slots.expired(NOW + 1001, 256)).toEqual([1, 2, 11])
  })
})

describe('the key nearest to a full quota', () => {
  it('is none while every key is exhausted, and never the overflow', () => {
    const slots = filled(10_000, () => 1000, EXHAUSTED)
    slots.save(OVERFLOW, new KeyState(), NOW, 0, 3)
    expect(slots.best()).toBe(-1)
    slots.setUsage(7000, 254)
    expect(slots.best()).toBe(7000)
    slots.setUsage(7000, EXHAUSTED)
    expect(slots.best()).toBe(-1)
  })

  it('is looked for on one page, another one each time', () => {
    const slots = filled(3 * PAGE - 1, () => 1000, 9)
    for (const slot of [100, PAGE + 100, 2 * PAGE + 100]) slots.setUsage(slot, 4)
    const found = [slots.best(), slots.best(), slots.best()]
    expect(found.sort((a, b) => a - b)).toEqual([100, PAGE + 100, 2 * PAGE + 100])
  })

  it('is none that was released', () => {
    const slots = filled(2, () => 1000, 9)
    slots.setUsage(1, 0)
    slots.release(1)
    expect(slots.best()).toBe(2)
    slots.release(2)
    expect(slots.best()).toBe(-1)
  })
})

describe('slots', () => {
  it('keep every state while the first page grows', () => {
    const slots = new Slots()
    const state = new KeyState()
    for (let n = 1; n <= PAGE + 10; n += 1) {
      state.a = n
      state.b = -n
      slots.save(slots.claim(`client-${n}`), state, NOW, n, n % EXHAUSTED)
    }
    for (let n = 1; n <= PAGE + 10; n += 1) {
      slots.load(n, state)
      const kept = [slots.key(n), state.a, state.b, slots.usage(n)]
      expect(kept).toEqual([`client-${n}`, n, -n, n % EXHAUSTED])
    }
    expect(slots.spare).toBe(PAGE + 10)
    expect(slots.expired(NOW + 3, PAGE)).toEqual([1, 2, 3])
  })

  it('are claimed again in the state of a key never seen', () => {
    const slots = filled(5000, () => 1000)
    const state = new KeyState()
    state.a = state.b = state.c = 7
    slots.save(4000, state, NOW, 0, 0)
    for (const slot of [3, 4000, 17]) slots.release(slot)
    const claimed = ['x', 'y', 'z', 'new'].map((key) => slots.claim(key))
    expect(claimed).toEqual([17, 4000, 3, 5001])
    for (const slot of claimed) {
      slots.load(slot, state)
      expect(state.blockedUntil).toBeLessThanOrEqual(NOW)
      expect([state.a, state.b, state.c, state.log]).toEqual([0, 0, 0, undefined])
      expect(slots.usage(slot)).toBe(EXHAUSTED)
    }
  })
})
