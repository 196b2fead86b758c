import { expect, it } from '@jest/globals'
import { reference } from '../errors/reference.ts'
import { SluiceError } from '../errors/sluice-error.ts'
import { misuses } from './testing/misuses.ts'

it.each(misuses)('%s throws, and says what to do', (_, call) => {
  const error = thrown(call)
  expect(error).toBeInstanceOf(SluiceError)
  const { code, option, fix, message } = error as SluiceError
  expect(fix).toMatch(/^[A-Z].*\S\.$/)
  expect(message.startsWith(`${option}: ${fix} `)).toBe(true)
  expect(message.endsWith(`. ${reference(code)}`)).toBe(true)
  expect(message).not.toContain('\n')
})

function thrown(call: () => unknown): unknown {
  try {
    call()
    return undefined
  } catch (error) {
    return error
  }
}
