import { beforeEach, expect, jest, test } from '@jest/globals'
import { fixedWindow } from '../../algorithms/fixed-window/fixed-window.ts'
import { versionOf } from '../documents/document.ts'
import type { Documents } from '../store.ts'
import { KeptKeyspaces } from './kept-keyspaces.ts'

const DAY = 86_400_000
const MONTH = 30 * DAY

let now: number
let text: string
/** How long the text may be kept, ms, of each time that it was written. */
let lives: number[]
let isDown: boolean

const documents: Documents<'async'> = {
  read: async () => ({ text, at: now }),
  replace: async (_, __, ___, replaced, ttlMs) => {
    if (isDown) throw new Error('down')
    text = replaced
    lives.push(ttlMs)
    return true
  },
}

let kept: KeptKeyspaces
beforeEach(() => {
  now = 1_000_000
  text = ''
  lives = []
  isDown = false
  kept = new KeptKeyspaces(documents)
})

/** The keyspaces of a version of an application. */
const ledgerOf = (...windows: number[]) => {
  const spaces = windows.map((windowMs) => ({
    name: `fixed-window:${windowMs}:default`,
    algorithm: fixedWindow,
    params: { limit: windows.length, windowMs },
  }))
  return kept.of(spaces, 'sluice')
}

test('a version of shorter windows shortens nothing of another one', async () => {
  ledgerOf(DAY, MONTH).keep()
  await kept.settled()
  const before = await kept.read('sluice')
  now += 1000
  ledgerOf(DAY).keep()
  await kept.settled()
  const after = await kept.read('sluice')
  expect(after.map(({ until }) => until)).toEqual(before.map(({ until }) => until))
  // It has written its own limit.
  expect(after.map(({ params }) => params).sort()).toEqual(['1', '2'])
  const [until] = after.map((each) => each.until)
  expect(lives).toEqual([(until as number) - 1_000_000, (until as number) - now])
})

test('who has found a keyspace keeps what its limiter has written, whatever they think its limit is', async () => {
  const [name, live] = [`fixed-window:${DAY}:default`, 'api,0,500']
  const found = { name, algorithm: fixedWindow, isFound: true } as const
  const guesses = [undefined, { limit: 7, windowMs: DAY }]
  for (const params of guesses) {
    kept.of([{ ...found, params }], 'sluice').keep()
    await kept.settled()
    expect(await kept.read('sluice')).toMatchObject([{ params: '-' }])
  }
  kept
    .of([{ name, algorithm: fixedWindow, params: { limit: 5, windowMs: DAY }, live }], 'sluice')
    .keep()
  await kept.settled()
  const [before] = await kept.read('sluice')
  now += 3 * DAY
  for (const params of guesses) {
    kept.of([{ ...found, params }], 'sluice').keep()
    await kept.settled()
  }
  const [after] = await kept.read('sluice')
  expect([before?.params, after?.params]).toEqual(Array(2).fill('5;live=api,0,500'))
  // It is in use: the rest of its line is kept as long as if the limiter had written it.
  expect(after?.until).toBe((before?.until as number) + 3 * DAY)
})

test('the limits of the ledger that was opened last are kept, however late the first one is written', async () => {
  let isFirst = true
  const late: Documents<'async'> = {
    read: async () => ({ text, at: now }),
    replace: async (_, __, found, replaced) => {
      const isLate = isFirst
      isFirst = false
      if (isLate) await new Promise(setImmediate)
      if (versionOf(text) !== found) return false
      text = replaced
      return true
    },
  }
  kept = new KeptKeyspaces(late)
  for (const limit of [5, 8]) {
    const space = { name: `fixed-window:${DAY}:default`, algorithm: fixedWindow }
    kept.of([{ ...space, params: { limit, windowMs: DAY } }], 'sluice').keep()
  }
  await kept.settled()
  expect(await kept.read('sluice')).toMatchObject([{ params: '8' }])
})

test('they are written again a minute after the store did not take them', async () => {
  const time = jest.spyOn(performance, 'now').mockReturnValue(0)
  const ledger = ledgerOf(DAY)
  isDown = true
  ledger.keep()
  await kept.settled()
  isDown = false
  for (const ms of [59_999, 60_000]) {
    time.mockReturnValue(ms)
    ledger.keep()
    await kept.settled()
    expect(lives).toHaveLength(ms === 60_000 ? 1 : 0)
  }
  time.mockRestore()
})
