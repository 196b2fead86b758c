import { describe, expect, it } from '@jest/globals'
import { algorithms } from '../../algorithms/index.ts'
import { ScriptCall } from './script-call.ts'

const [burst, daily] = [1000, 86_400_000].map((windowMs) =>
  algorithms['fixed-window'].compile({ limit: 10, windowMs }),
)

/** What the script gets of the charges `[key, limit, units]`. */
function inputOf(policies: number, ...charges: [string, typeof burst, number][]) {
  const call = new ScriptCall()
  for (const charge of charges) call.add(...charge)
  const { units, charges: numbers } = JSON.parse(call.input('consume', -1, 0, policies, () => 1))
  return { keys: call.keys, units, numbers }
}

describe('the charges of a call', () => {
  it('are their units alone, if all are alike', () => {
    expect(inputOf(1, ['a', burst, 2], ['b', burst, 2])).toEqual({ keys: ['a', 'b'], units: 2 })
    expect(
      inputOf(2, ['a1', burst, 1], ['a2', daily, 1], ['b1', burst, 1], ['b2', daily, 1]),
    ).toEqual({ keys: ['a1', 'a2', 'b1', 'b2'], units: 1 })
  })

  it('are listed one by one, if a key comes again, a limit is out of turn, or units differ', () => {
    expect(inputOf(1, ['a', burst, 1], ['a', burst, 1])).toEqual({
      keys: ['a'],
      numbers: [1, 1, 1, 1, 1, 1],
    })
    expect(inputOf(1, ['a', burst, 1], ['b', daily, 1]).numbers).toEqual([1, 1, 1, 2, 2, 1])
    expect(inputOf(1, ['a', burst, 1], ['b', burst, 3]).numbers).toEqual([1, 1, 1, 2, 1, 3])
    expect(inputOf(2, ['a1', burst, 1], ['a2', burst, 1]).numbers).toEqual([1, 1, 1, 2, 1, 1])
  })
})
