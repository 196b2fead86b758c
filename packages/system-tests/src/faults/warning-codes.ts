import { afterEach, beforeEach, jest } from '@jest/globals'

/** The codes of the warnings that the running test has caused, in order; they are not printed. */
export const warningCodes: string[] = []

beforeEach(() => {
  warningCodes.length = 0
  jest.spyOn(process, 'emitWarning').mockImplementation(((_: string, options: object) => {
    warningCodes.push((options as { code: string }).code)
  }) as never)
})
afterEach(() => {
  jest.restoreAllMocks()
})
