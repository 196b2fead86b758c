import { expect, it } from '@jest/globals'
import { SluiceError } from '@sluice/core'
import { reference } from '../../core/src/errors/reference.ts'
import { RoutedLimiter } from './path/routed-limiter.ts'
import { misuses } from './testing/misuses.ts'
import { plain } from './testing/plain-server.ts'

it.each(misuses)('%s throws, and says what to do', (_, call) => {
  const error = thrown(call)
  expect(error).toBeInstanceOf(SluiceError)
  const { code, option, fix, message } = error as SluiceError
  expect(fix).toMatch(/^[A-Z].*\S\.$/)
  expect(message.startsWith(`${option}: ${fix} `)).toBe(true)
  expect(message.endsWith(`. ${reference(code)}`)).toBe(true)
  expect(message).not.toContain('\n')
})

it('takes a cost of all policies for one that counts something else than requests', () => {
  const policies = [{ limit: 10, window: '1m', unit: 'tokens' }]
  expect(thrown(() => new RoutedLimiter({ cost: 5, policies } as never, plain))).toBeUndefined()
})

it('names the cost that could never be paid where it stands', () => {
  const ofAll = { cost: 11, policies: [{ limit: 10, window: '1m' }] }
  const ofOne = { policies: [{ limit: 10, window: '1m', cost: 11 }] }
  const optionOf = (options: object) =>
    (thrown(() => new RoutedLimiter(options as never, plain)) as SluiceError).option
  expect([ofAll, ofOne].map(optionOf)).toEqual(['cost', 'policies[0].cost'])
})

function thrown(call: () => unknown): unknown {
  try {
    call()
    return undefined
  } catch (error) {
    return error
  }
}
