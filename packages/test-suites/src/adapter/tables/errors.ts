import { inspect } from 'node:util'
import { expect } from 'expect'
import type { TestOptions } from '../adapter-kit.ts'
import type { RunningSite, World } from '../world.ts'

const boom = new Error('boom')
const OPTIONS = { limit: 5, window: '1m' } as const
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

/** Functions of the application that fail: the error handler gets the error, the server continues. */
export function errorTests(world: World): void {
  const test = (name: string, run: () => Promise<void>) =>
    world.test(name, () => withoutUnhandledRejections(run))

  async function expectError(site: RunningSite, error: unknown): Promise<void> {
    const reply = await site.send()
    expect(reply.status).toBe(500)
    expect(reply.limitFields()).toEqual({})
    expect(site.errors).toEqual([error])
    expect(site.decisions).toEqual([])
  }

  for (const [option, fail] of FAILING)
    test(`${option} ${inspect(fail)}: the error handler gets it, others are served`, async () => {
      const site = await world.start({
        ...OPTIONS,
        key: 'user',
        [option]: ({ url }: { url?: string }) => (url === '/' ? fail() : FINE[option]),
      } as TestOptions)
      await expectError(site, boom)
      expect((await site.send({ path: '/?other' })).status).toBe(200)
    })

  for (const respond of [throws, rejects, rejectsLate] as const)
    test(`respond ${inspect(respond)}: the error handler gets it`, async () => {
      const site = await world.start({ ...OPTIONS, limit: 0, respond })
      expect((await site.send()).status).toBe(500)
      expect(site.errors).toEqual([boom])
      expect((await site.send()).status).toBe(500)
    })

  test('settle rejects with an object without a prototype: no rejection escapes', async () => {
    const settle = async () => {
      throw Object.create(null)
    }
    const site = await world.start({ ...OPTIONS, settle })
    expect((await site.send()).status).toBe(200)
    expect(site.errors).toEqual([])
  })

  for (const [option, value, code] of [
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
  ] as const)
    test(`a ${option} function that gives ${inspect(value)} is an error, not unlimited`, async () => {
      for (const give of [() => value, async () => value]) {
        const site = await world.start({ ...OPTIONS, [option]: give } as never)
        await expectError(site, expect.objectContaining({ name: 'SluiceError', code, option }))
        expect(site.keys).toEqual([])
      }
    })

  test('two functions of one request fail: one error, and no rejection escapes', async () => {
    const site = await world.start({
      policies: [
        { name: 'a', ...OPTIONS, key: rejects },
        { name: 'b', ...OPTIONS, cost: throws },
      ],
    })
    await expectError(site, boom)
    const one = await world.start({ ...OPTIONS, key: rejects, cost: throws })
    await expectError(one, boom)
    const wrong = await world.start({
      policies: [
        { name: 'a', ...OPTIONS, key: rejects },
        { name: 'b', ...OPTIONS, limit: () => '5' as never },
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
  for (const [given, onDecision] of ONDECISION)
    test(`onDecision ${given}: the request goes on`, async () => {
      const site = await world.start({ ...OPTIONS, limit: 1, onDecision: onDecision as never })
      const statuses = (await site.sendTimes(2)).map(({ status }) => status)
      expect(statuses).toEqual([200, 429])
      expect(site.errors).toEqual([])
    })
}

async function withoutUnhandledRejections(run: () => Promise<void>): Promise<void> {
  const unhandled: unknown[] = []
  const note = (error: unknown) => void unhandled.push(error)
  process.on('unhandledRejection', note)
  try {
    await run()
    // An unhandled rejection is announced once the microtasks of a turn have run.
    await new Promise((resolve) => setImmediate(resolve))
  } finally {
    process.off('unhandledRejection', note)
  }
  expect(unhandled).toEqual([])
}
