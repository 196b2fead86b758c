import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { TestOptions } from '../adapter.ts'
import type { RunningSite, World } from '../world.ts'

const boom = new Error('boom')
const TERMS = { limit: 5, window: '1m' } as const
const throws = () => {
  throw boom
}
const rejects = () => Promise.reject(boom)
const rejectsLate = () => new Promise<never>((_, reject) => setImmediate(reject, boom))

const FAILING = [
  ['key', throws],
  ['key', rejects],
  ['key', rejectsLate],
  ['user', throws],
  ['user', rejects],
  ['limit', throws],
  ['limit', rejects],
  ['cost', throws],
  ['cost', rejectsLate],
  ['skip', throws],
  ['skip', rejects],
] as const
const FINE = { key: 'a', user: 'b', limit: 5, cost: 1, skip: false }

/** Functions of the application's that fail: the error handler hears of it, the server lives on. */
export function errorTests(world: World): void {
  const unhandled: unknown[] = []
  const note = (error: unknown) => void unhandled.push(error)

  beforeEach(() => {
    unhandled.length = 0
    process.on('unhandledRejection', note)
  })
  afterEach(async () => {
    // An unhandled rejection is announced once the microtasks of a turn have run.
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })

  async function expectError(site: RunningSite, error: unknown): Promise<void> {
    const reply = await site.send()
    expect(reply.status).toBe(500)
    expect(reply.limitFields()).toEqual({})
    expect(site.errors).toEqual([error])
    expect(site.decisions).toEqual([])
  }

  test.each(FAILING)(
    '%s %p: the error handler gets it, others are served',
    async (option, fail) => {
      const site = await world.start({
        ...TERMS,
        key: 'user',
        [option]: ({ url }: { url?: string }) => (url === '/' ? fail() : FINE[option]),
      } as TestOptions)
      await expectError(site, boom)
      expect((await site.send({ path: '/?other' })).status).toBe(200)
    },
  )

  test.each([throws, rejects, rejectsLate])(
    'respond %p: the error handler gets it',
    async (respond) => {
      const site = await world.start({ ...TERMS, limit: 0, respond })
      expect((await site.send()).status).toBe(500)
      expect(site.errors).toEqual([boom])
      expect((await site.send()).status).toBe(500)
    },
  )

  test('settle rejects with an object without a prototype: no rejection escapes', async () => {
    const settle = async () => {
      throw Object.create(null)
    }
    const site = await world.start({ ...TERMS, settle })
    expect((await site.send()).status).toBe(200)
    expect(site.errors).toEqual([])
  })

  test.each([
    ['limit', '5', 'SLUICE_OPTION_TYPE'],
    ['limit', Number.NaN, 'SLUICE_OPTION_RANGE'],
    ['limit', undefined, 'SLUICE_OPTION_TYPE'],
    ['limit', Number.POSITIVE_INFINITY, 'SLUICE_OPTION_RANGE'],
    ['limit', -1, 'SLUICE_OPTION_RANGE'],
    ['cost', '2', 'SLUICE_OPTION_TYPE'],
    ['cost', Number.NaN, 'SLUICE_OPTION_RANGE'],
    ['cost', 0.5, 'SLUICE_OPTION_RANGE'],
    ['cost', -1, 'SLUICE_OPTION_RANGE'],
    ['cost', undefined, 'SLUICE_OPTION_TYPE'],
  ])(
    'peers fault 12: a %s function that gives %p is an error, not unlimited',
    async (option, value, code) => {
      for (const give of [() => value, async () => value]) {
        const site = await world.start({ ...TERMS, [option]: give } as never)
        await expectError(site, expect.objectContaining({ name: 'SluiceError', code, option }))
        expect(site.keys).toEqual([])
      }
    },
  )

  test('two functions of one request fail: one error, and no rejection escapes', async () => {
    const site = await world.start({
      policies: [
        { name: 'a', ...TERMS, key: rejects },
        { name: 'b', ...TERMS, cost: throws },
      ],
    })
    await expectError(site, boom)
    const one = await world.start({ ...TERMS, key: rejects, cost: throws })
    await expectError(one, boom)
    const wrong = await world.start({
      policies: [
        { name: 'a', ...TERMS, key: rejects },
        { name: 'b', ...TERMS, limit: () => '5' as never },
      ],
    })
    await expectError(wrong, expect.objectContaining({ code: 'SLUICE_OPTION_TYPE' }))
  })

  const bare = Object.create(null)
  const bareThrown = () => {
    throw bare
  }
  const ONDECISION = [
    ['throws', throws],
    ['rejects', rejects],
    ['throws an object without a prototype', bareThrown],
    ['rejects with an object without a prototype', () => Promise.reject(bare)],
    ['rejects with what has no text', () => Promise.reject({ toString: throws })],
  ] as const
  test.each(ONDECISION)('onDecision %s: the request goes on', async (_, onDecision) => {
    const site = await world.start({ ...TERMS, limit: 1, onDecision: onDecision as never })
    const statuses = (await site.sendTimes(2)).map(({ status }) => status)
    expect(statuses).toEqual([200, 429])
    expect(site.errors).toEqual([])
  })
}
