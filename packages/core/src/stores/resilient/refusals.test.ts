import { describe, expect, it } from '@jest/globals'
import { algorithms } from '../../algorithms/index.ts'
import type { Charge, Ruling } from '../store.ts'
import { Refusals } from './refusals.ts'

const quotaOf = (limit: number) => algorithms['sliding-log'].compile({ limit, windowMs: 60_000 })
const [basic, pro] = [quotaOf(5), quotaOf(50)]
const charge = (key: string, quota = basic, cost = 1): Charge => ({ key, quota, cost })

function refused(waitMs: number): Ruling {
  const outcome = { admitted: false, remaining: 0, resetMs: waitMs, waitMs, delayMs: 0 }
  return { admitted: false, at: 1000, source: 'store', outcomes: [outcome] }
}

describe('remembered refusals', () => {
  it('hold for the quota that refused: a client whose plan has changed is asked for', () => {
    const refusals = new Refusals(() => 0)
    refusals.listen()([charge('client')], refused(1000))
    expect(refusals.find([charge('client')])).toMatchObject({ admitted: false, source: 'cache' })
    expect(refusals.find([charge('client', pro)])).toBeUndefined()
  })

  it('hold from when the store was asked, and are told from when it answered', () => {
    let now = 0
    const refusals = new Refusals(() => now)
    const note = refusals.listen()
    now = 10
    note([charge('client')], refused(100))
    now = 99
    expect(refusals.find([charge('client')])?.outcomes[0]?.waitMs).toBe(11)
    now = 100
    expect(refusals.find([charge('client')])).toBeUndefined()
  })

  it('keep clients apart, whatever their keys', () => {
    const refusals = new Refusals(() => 0)
    const pair = [charge('a'), charge('b')]
    refusals.listen()(pair, refused(1000))
    expect(refusals.find(pair)).toBeDefined()
    for (const key of ['a', '["a","b"]', '=a', 'a\nb']) {
      expect(refusals.find([charge(key), charge(key)])).toBeUndefined()
    }
  })
})
