import { afterEach, beforeEach, jest } from '@jest/globals'

/** The codes of the warnings in the test that runs, in order; kept off the screen. */
export const told: string[] = []

beforeEach(() => {
  told.length = 0
  jest.spyOn(process, 'emitWarning').mockImplementation(((_: string, options: object) => {
    told.push((options as { code: string }).code)
  }) as never)
})
afterEach(() => {
  jest.restoreAllMocks()
})
