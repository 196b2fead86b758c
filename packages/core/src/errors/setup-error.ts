import type { SetupCode } from './codes.ts'
import { setupAction } from './reference.ts'
import { SluiceError } from './sluice-error.ts'

/**
 * The error of a store that can't work as it is set up. One such failure is enough for Sluice to do
 * without the store until it works.
 *
 * @param expected what would work
 * @param said what the server said: shown as it is
 * @param fix Default: the action on the page of errors
 */
export function setupError(
  code: SetupCode,
  expected: string,
  said: string,
  fix: string = setupAction(code),
): SluiceError {
  return new SluiceError({ code, option: 'store', expected, said, fix })
}
