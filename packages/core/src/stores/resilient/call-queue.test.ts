import { describe, expect, it } from '@jest/globals'
import { CallQueue, type PendingCall, pendingCall } from './call-queue.ts'

function makeCall(dueAt: number): PendingCall {
  return { ...pendingCall(() => {}), dueAt }
}

describe('a queue of calls', () => {
  it('gives them in the order in which they were added', () => {
    const queue = new CallQueue()
    for (const dueAt of [3, 1, 2]) queue.add(makeCall(dueAt))
    expect([...queue].map(({ dueAt }) => dueAt)).toEqual([3, 1, 2])
  })

  it('removes them from anywhere, once', () => {
    const queue = new CallQueue()
    const calls = [1, 2, 3, 4].map(makeCall)
    for (const call of calls) queue.add(call)
    expect([calls[1], calls[0], calls[3], calls[1]].map((call) => queue.delete(call!))).toEqual([
      true,
      true,
      true,
      false,
    ])
    expect([...queue]).toEqual([calls[2]])
    queue.delete(calls[2]!)
    expect([...queue]).toEqual([])
  })

  it('can remove the call that was returned last', () => {
    const queue = new CallQueue()
    for (const dueAt of [1, 2, 3]) queue.add(makeCall(dueAt))
    for (const call of queue) queue.delete(call)
    expect([...queue]).toEqual([])
  })

  it('accepts a removed call again', () => {
    const queue = new CallQueue()
    const [first, second] = [makeCall(1), makeCall(2)]
    for (const call of [first, second]) queue.add(call)
    queue.delete(first)
    queue.add(first)
    expect([...queue]).toEqual([second, first])
  })
})
