import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { runningTime } from '@sluice/test-harness/redis'
import { Deadline, DeadlineError, PendingCall } from './deadline.ts'

const never = new Promise<never>(() => {})

const callOf = (giveUp: (error: Error) => void) => Object.assign(new PendingCall(), { giveUp })

/** The answer as it is, or the error. */
function bound<T>(deadline: Deadline, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const call = callOf(reject)
    deadline.start(call)
    answer.then(
      (value) => deadline.end(call) && resolve(value),
      (error) => deadline.end(call) && reject(error),
    )
  })
}

/** The state of a promise. */
function watch(promise: Promise<unknown>): { outcome: unknown } {
  const seen = { outcome: 'pending' as unknown }
  promise.then(
    (value) => {
      seen.outcome = value
    },
    (error) => {
      seen.outcome = error
    },
  )
  return seen
}

/** Lets so many ms pass, and the turn after them run. */
async function pass(ms: number): Promise<void> {
  await jest.advanceTimersByTimeAsync(ms)
  await new Promise((resolve) => setImmediate(resolve))
}

it('keeps the process alive while a call waits, also a later one, and no longer', () => {
  const timers = () => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length
  const before = timers()
  const deadline = new Deadline(1000)
  const counts = [1, 2].flatMap(() => {
    const call = new PendingCall()
    deadline.start(call)
    const waiting = timers()
    deadline.end(call)
    return [waiting, timers()]
  })
  expect(counts.map((count) => count - before)).toEqual([1, 0, 1, 0])
})

describe('a deadline', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] })
  })
  afterEach(() => {
    jest.useRealTimers()
  })

  it('passes on what comes in time, a value or a rejection', async () => {
    const deadline = new Deadline(100)
    expect(await bound(deadline, Promise.resolve('value'))).toBe('value')
    await expect(bound(deadline, Promise.reject(new Error('of its own')))).rejects.toThrow(
      'of its own',
    )
  })

  it('gives up after so many ms, not one earlier', async () => {
    const seen = watch(bound(new Deadline(100), never))
    await pass(99)
    expect(seen.outcome).toBe('pending')
    await pass(1)
    expect(seen.outcome).toBeInstanceOf(DeadlineError)
    expect(String(seen.outcome)).toContain('no answer within 100 ms')
  })

  it('counts from the time of each call, with one timer for all', async () => {
    const deadline = new Deadline(100)
    const first = watch(bound(deadline, never))
    await pass(60)
    const second = watch(bound(deadline, never))
    expect(jest.getTimerCount()).toBe(1)
    await pass(40)
    expect([first.outcome, second.outcome]).toEqual([expect.any(DeadlineError), 'pending'])
    await pass(59)
    expect(second.outcome).toBe('pending')
    await pass(1)
    expect(second.outcome).toBeInstanceOf(DeadlineError)
  })

  it('gives calls that are due together one and the same error', async () => {
    const deadline = new Deadline(100)
    const seen = [watch(bound(deadline, never)), watch(bound(deadline, never))]
    await pass(100)
    expect(seen[0]!.outcome).toBeInstanceOf(DeadlineError)
    expect(seen[1]!.outcome).toBe(seen[0]!.outcome)
  })

  it('ends calls in any order, once, and takes an ended call again', async () => {
    const deadline = new Deadline(100)
    const given: number[] = []
    const calls = [0, 1, 2, 3].map((i) => callOf(() => given.push(i)))
    for (const call of calls) deadline.start(call)
    expect([1, 0, 3, 1].map((i) => deadline.end(calls[i] as PendingCall))).toEqual([
      true,
      true,
      true,
      false,
    ])
    await pass(50)
    deadline.start(calls[1] as PendingCall)
    await pass(50)
    expect(given).toEqual([2])
    await pass(50)
    expect(given).toEqual([2, 1])
    expect(calls.map(({ isPending }) => isPending)).toEqual([false, false, false, false])
  })

  it('leaves no timer when no call is pending', async () => {
    const deadline = new Deadline(100)
    await bound(deadline, Promise.resolve(1))
    await pass(100)
    expect(jest.getTimerCount()).toBe(0)
  })
})

describe('a stall of the event loop', () => {
  const stall = (ms: number) => {
    const until = performance.now() + ms
    while (performance.now() < until);
  }

  it('does not count for a call whose answer comes right after it', async () => {
    const answered = new Promise((resolve) => setTimeout(() => setTimeout(resolve, 5, 'value'), 1))
    const kept = bound(new Deadline(100), answered)
    stall(250)
    expect(await kept).toBe('value')
  })

  it('does not count for a reply that has arrived meanwhile', async () => {
    // As a socket does, whose data are read between timers and immediates.
    const kept = bound(
      new Deadline(20),
      new Promise((resolve) => setTimeout(() => setImmediate(resolve, 'value'), 20)),
    )
    stall(25)
    expect(await kept).toBe('value')
  })

  it('is one from a fifth of the deadline: on a busy machine, many short ones follow each other', async () => {
    const seen = watch(bound(new Deadline(100), never))
    for (let i = 0; i < 5; i += 1) {
      stall(30)
      await new Promise((resolve) => setTimeout(() => setImmediate(resolve)))
    }
    expect(seen.outcome).toBe('pending')
  })

  it('prolongs a call, but not for an unlimited time', async () => {
    const kept = bound(new Deadline(20), never)
    stall(60)
    const late = runningTime(500).then(() => 'half a second has passed')
    await expect(Promise.race([kept, late])).rejects.toThrow(DeadlineError)
  })

  it('prolongs a call at most ten times, even if one stall follows another', async () => {
    const seen = watch(bound(new Deadline(20), never))
    let stalls = 0
    while (seen.outcome === 'pending' && stalls < 20) {
      stall(60)
      stalls += 1
      // Behind what the tick of this turn gives up.
      await new Promise((resolve) => setTimeout(() => setImmediate(resolve)))
    }
    expect(stalls).toBeLessThanOrEqual(11)
  })
})
