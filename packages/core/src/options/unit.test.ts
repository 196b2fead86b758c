import { expect, test } from '@jest/globals'
import { unit as type } from './unit.ts'

const checkUnit = (option: string, value: unknown) => type.check(option, value)

test.each(['requests', 'tokens', 'input-tokens', 'content-bytes', 'rows', 'gpu-seconds', 'k8s'])(
  '%s is a unit',
  (unit) => {
    expect(checkUnit('unit', unit)).toBe(unit)
  },
)

test.each([
  ['token', "Write 'tokens'"],
  ['Tokens', "Write 'tokens'"],
  ['request', "Write 'requests'"],
  ['input_tokens', "Write 'input-tokens'"],
  ['contentBytes', "Write 'content-bytes'"],
])('%s is a slip', (unit, fix) => {
  expect(() => checkUnit('unit', unit)).toThrow(
    expect.objectContaining({ code: 'SLUICE_OPTION_VALUE', option: 'unit' }),
  )
  expect(() => checkUnit('unit', unit)).toThrow(fix)
})

test.each(['', 'Rows', 'two words', 'a"b', '-', `r${'o'.repeat(64)}`, 'concurrent-requests'])(
  '%j is not a unit of a policy with a window',
  (unit) => {
    expect(() => checkUnit('unit', unit)).toThrow(
      expect.objectContaining({ code: 'SLUICE_OPTION_VALUE' }),
    )
  },
)

test.each([null, 5, ['tokens']])('%j is no text', (unit) => {
  expect(() => checkUnit('unit', unit)).toThrow(
    expect.objectContaining({ code: 'SLUICE_OPTION_TYPE' }),
  )
})
