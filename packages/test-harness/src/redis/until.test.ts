import { expect, test } from '@jest/globals'
import { until } from './until.ts'

test('tries until the condition holds and gives its value', async () => {
  let tries = 0
  const third = () => (++tries === 3 ? `try ${tries}` : '')
  expect(await until(third, { everyMs: 1, what: 'three tries' })).toBe('try 3')
})

test('names what was awaited when the time is over', async () => {
  const wait = until(() => false, { withinMs: 20, what: 'pigs fly' })
  await expect(wait).rejects.toThrow('gave up after 20 ms of waiting until pigs fly')
})

test('is bounded although a try never settles', async () => {
  const wait = until(() => new Promise(() => {}), { withinMs: 20, what: 'silence ends' })
  await expect(wait).rejects.toThrow('until silence ends')
})

test('an error of the condition ends the wait', async () => {
  const broken = () => Promise.reject(new TypeError('a fault in the test'))
  const wait = until(broken, { what: 'never' })
  await expect(wait).rejects.toThrow('a fault in the test')
})
