import { afterEach, expect, it, jest } from '@jest/globals'
import { SluiceError } from '../../errors/sluice-error.ts'
import { StoreHealth } from './store-health.ts'

afterEach(() => {
  jest.restoreAllMocks()
})

function down(reason: string): string {
  return `The store failed, and is not used until it recovers: ${reason} (SLUICE_STORE_DOWN, docs/errors.md#sluice_store_down)`
}

it('warns of the first part that is down, and when all of them are up', () => {
  const warnings: string[] = []
  jest
    .spyOn(process, 'emitWarning')
    .mockImplementation(((message: string) => warnings.push(message)) as never)
  const health = new StoreHealth()
  health.down(new Error('the first'))
  health.down(new Error('the second'))
  health.up()
  expect(warnings).toEqual([down('the first')])
  health.up()
  health.down('text')
  expect(warnings.slice(1)).toEqual([
    'The store has recovered, and decides again. (SLUICE_STORE_UP, docs/errors.md#sluice_store_up)',
    down('text'),
  ])
})

it('warns again, once, when it turns out that the set-up can never work', () => {
  const warnings: string[] = []
  jest
    .spyOn(process, 'emitWarning')
    .mockImplementation(((message: string) => warnings.push(message)) as never)
  const health = new StoreHealth()
  const setUp = new SluiceError({
    code: 'SLUICE_REDIS_AUTH',
    option: 'store',
    expected: 'credentials',
    received: 'WRONGPASS',
    fix: 'Give them.',
  })
  health.down(new Error('no answer within 100 ms'))
  health.setUpFails(setUp)
  health.setUpFails(setUp)
  health.down(setUp)
  expect(warnings).toEqual([down('no answer within 100 ms'), down(setUp.message)])
  health.up()
  health.up()
  health.down(setUp)
  expect(warnings).toHaveLength(4)
})
