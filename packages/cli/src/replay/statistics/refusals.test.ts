import { describe, expect, it } from '@jest/globals'
import { Refusals } from './refusals.ts'

describe('Refusals', () => {
  it('measures from the first to the last refusal between two admissions', () => {
    const refusals = new Refusals()
    refusals.admit(0)
    refusals.refuse(0, 0)
    refusals.refuse(0, 400)
    refusals.admit(0)
    refusals.refuse(0, 5000)
    refusals.refuse(0, 5300)
    expect(refusals.longestOf(0)).toBe(400)
    expect(refusals.longestMs).toBe(400)
  })

  it('does not count a client as refused while it stays away after a refusal', () => {
    const refusals = new Refusals()
    refusals.refuse(3, 100)
    refusals.admit(3)
    expect(refusals.longestOf(3)).toBe(0)
    expect([refusals.clients, refusals.count(3), refusals.count(9_999)]).toEqual([1, 1, 0])
  })

  it('lists those refused most, the earlier of equals first', () => {
    const refusals = new Refusals()
    const counts = [2, 0, 5, 2, 1, 5]
    for (const [client, count] of counts.entries()) {
      for (let i = 0; i < count; i += 1) refusals.refuse(client, i)
    }
    expect(refusals.worst(4)).toEqual([2, 5, 0, 3])
    expect(refusals.worst(10)).toEqual([2, 5, 0, 3, 4])
  })

  it('has room for any client', () => {
    const refusals = new Refusals()
    refusals.refuse(100_000, 7)
    refusals.refuse(250_000, 9)
    expect(refusals.worst(5)).toEqual([100_000, 250_000])
    expect(refusals.longestOf(250_000)).toBe(0)
  })
})
