import { afterEach, beforeEach, expect, it, jest } from '@jest/globals'
import { SluiceError } from '../../errors/sluice-error.ts'
import { ShardCalls } from './store-calls.ts'

beforeEach(() => {
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
})
afterEach(() => {
  jest.restoreAllMocks()
})

/** Calls to a store that answers when a test says so, and their results. */
function callsOf(count: number) {
  const calls = new ShardCalls(60_000).to(0)
  const begun: number[] = []
  const refused: number[] = []
  const answers: (() => void)[] = []
  const failures: ((error: Error) => void)[] = []
  for (let i = 0; i < count; i += 1) {
    const ask = () =>
      new Promise<void>((resolve, reject) => {
        begun.push(i)
        answers[i] = resolve
        failures[i] = reject
      })
    calls.call(ask).catch(() => refused.push(i))
  }
  const answer = async (from: number, to: number) => {
    for (let i = from; i < to; i += 1) answers[i]?.()
    await new Promise(setImmediate)
  }
  return { calls, begun, refused, answer, failures }
}

/** The error of a store that can't work as it is set up: one is enough to give it up. */
const setupFails = () =>
  new SluiceError({
    code: 'SLUICE_REDIS_AUTH',
    option: 'store',
    expected: '',
    received: '',
    fix: '',
  })

const upTo = (count: number, from = 0) => Array.from({ length: count - from }, (_, i) => from + i)

it('lets a thousand calls begin, and the others in order as those are answered', async () => {
  const { begun, refused, answer } = callsOf(5000)
  expect(begun).toEqual(upTo(1000))
  for (let from = 0; from < 5000; from += 500) await answer(from, from + 500)
  expect(begun).toEqual(upTo(5000))
  expect(refused).toEqual([])
})

it('has room for ten thousand that wait, however often it was full', async () => {
  const { begun, refused, answer } = callsOf(11_002)
  await new Promise(setImmediate)
  expect(refused).toEqual([11_000, 11_001])
  for (let from = 0; from < 11_000; from += 1000) await answer(from, from + 1000)
  expect(begun).toEqual(upTo(11_000))
})

it('fails a call once: not again if its answer is an error that comes after the deadline', async () => {
  jest.useFakeTimers()
  const calls = new ShardCalls(100).to(0)
  let fail = (_: Error) => {}
  const ask = () => new Promise<void>((_, reject) => (fail = reject))
  const failed = jest.fn()
  calls.call(ask).catch(failed)
  await jest.advanceTimersByTimeAsync(200)
  fail(new Error('late'))
  await jest.advanceTimersByTimeAsync(1)
  jest.useRealTimers()
  expect(failed).toHaveBeenCalledTimes(1)
})

it('refuses all that wait when the store is given up, and begins none of them', async () => {
  const { calls, begun, refused, answer, failures } = callsOf(1005)
  failures[7]?.(setupFails())
  await new Promise(setImmediate)
  expect(calls.isTrusted).toBe(false)
  // The call that failed made room for the first of those that waited.
  expect(begun).toEqual(upTo(1001))
  expect(refused).toEqual([1001, 1002, 1003, 1004, 7])
  await answer(0, 1001)
  expect(begun).toHaveLength(1001)
})

it('begins the calls that wait, also after some had waited when it was given up', async () => {
  const { calls, answer, failures } = callsOf(1500)
  await answer(0, 300)
  failures[300]?.(setupFails())
  await new Promise(setImmediate)
  expect(calls.isTrusted).toBe(false)
  await answer(301, 1500)
  while (!calls.isTrusted) {
    await calls.probe(async () => {})
    await new Promise(setImmediate)
  }
  const begun = jest.fn(async () => {})
  await Promise.all(Array.from({ length: 1500 }, () => calls.call(begun)))
  expect(begun).toHaveBeenCalledTimes(1500)
})

it('judges each shard separately', () => {
  const calls = new ShardCalls(100)
  expect(calls.to(3)).toBe(calls.to(3))
  expect(calls.to(3)).not.toBe(calls.to(4))
})

it('does not begin calls whose time is over while they waited', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] })
  const calls = new ShardCalls(100).to(0)
  const begun = jest.fn(() => new Promise<void>(() => {}))
  const failed = jest.fn()
  for (let i = 0; i < 1500; i += 1) calls.call(begun).catch(failed)
  await jest.advanceTimersByTimeAsync(110)
  await new Promise(setImmediate)
  jest.useRealTimers()
  expect([begun, failed].map(({ mock }) => mock.calls.length)).toEqual([1000, 1500])
})

it('counts the calls that a client has lost anew when the store has recovered', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] })
  const calls = new ShardCalls(100).to(0)
  const answers: (() => void)[] = []
  const lose = async (count: number) => {
    const ask = () => new Promise<void>((resolve) => answers.push(resolve))
    for (let i = 0; i < count; i += 1) calls.call(ask).catch(() => {})
    await jest.advanceTimersByTimeAsync(110)
    await new Promise(setImmediate)
  }
  await lose(1000)
  expect(calls.isTrusted).toBe(false)
  await jest.advanceTimersByTimeAsync(1000)
  await calls.probe(async () => {})
  expect(calls.isTrusted).toBe(true)
  await calls.call(() => Promise.reject(new Error('once'))).catch(() => {})
  expect(calls.isTrusted).toBe(true)
  // The client has found those of before.
  for (const answer of answers.splice(0)) answer()
  await new Promise(setImmediate)
  await lose(999)
  expect(calls.isTrusted).toBe(true)
  await lose(1)
  jest.useRealTimers()
  expect(calls.isTrusted).toBe(false)
})
