import { expect, it } from '@jest/globals'
import { Borrower } from './borrower.ts'

/** A pool whose connections, numbers, come when the test says so. */
function pool() {
  const asked: ((connection: number) => void)[] = []
  const released: [number, boolean][] = []
  const connect = () => new Promise<number>((resolve) => asked.push(resolve))
  const release = (connection: number, isBroken: boolean) => {
    released.push([connection, isBroken])
  }
  return { asked, released, borrower: new Borrower({ connect, release }) }
}

const never = () => new Promise<never>(() => {})

it('gives a connection back: whole after work, to be closed after a failure or too long', async () => {
  const { asked, released, borrower } = pool()
  const done = borrower.use(1000, async (connection) => connection + 1)
  asked[0]?.(1)
  expect(await done).toBe(2)
  const failed = borrower.use(1000, () => Promise.reject(new Error('broken')))
  asked[1]?.(2)
  await expect(failed).rejects.toThrow('broken')
  const late = borrower.use(5, never)
  asked[2]?.(3)
  await expect(late).rejects.toThrow('no answer within 10 ms')
  expect(released).toEqual([
    [1, false],
    [2, true],
    [3, true],
  ])
})

it('does not keep the process alive: a pool that has ended may never answer', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length
  const { asked, borrower } = pool()
  const before = timers()
  const used = borrower.use(60_000, async () => {})
  expect(timers()).toBe(before)
  asked[0]?.(1)
  await used
})

it('waits for at most four connections that nobody needs, and gives each back', async () => {
  const { asked, released, borrower } = pool()
  const abandoned = Array.from({ length: 4 }, () => borrower.use(1, never))
  expect((await Promise.allSettled(abandoned)).map(({ status }) => status)).toEqual(
    Array(4).fill('rejected'),
  )
  await expect(borrower.use(1000, never)).rejects.toThrow('no free connection')
  expect(asked).toHaveLength(4)
  asked[0]?.(1)
  await new Promise(setImmediate)
  expect(released).toEqual([[1, false]])
  const next = borrower.use(1000, async (connection) => connection)
  asked[4]?.(5)
  expect(await next).toBe(5)
})

it('a stall of this process counts little: the connection may still answer', async () => {
  const { asked, released, borrower } = pool()
  const done = borrower.use(100, async () => {
    const until = performance.now() + 300
    while (performance.now() < until);
    await new Promise((resolve) => setTimeout(resolve, 20))
    return 'done'
  })
  asked[0]?.(1)
  expect(await done).toBe('done')
  expect(released).toEqual([[1, false]])
})
