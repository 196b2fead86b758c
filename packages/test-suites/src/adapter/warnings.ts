import { jest } from '@jest/globals'

/** The codes of Sluice's warnings, kept off the screen. */
const codes: string[] = []

const emitWarning = process.emitWarning

jest.spyOn(process, 'emitWarning').mockImplementation(((warning: string, options: object) => {
  const { code = '' } = (options ?? {}) as { code?: string }
  if (code.startsWith('SLUICE_')) codes.push(code)
  else emitWarning(warning, options)
}) as typeof process.emitWarning)

/** How often this process has been told so, since the test file began. */
export function warned(code: string): number {
  return codes.filter((each) => each === code).length
}
