import type { SetupCode } from './codes.ts'
import { setupAction } from './reference.ts'
import { SluiceError } from './sluice-error.ts'

/**
 * The error of a store that can't work as it is set up. One such failure is enough for Sluice to do
 * without the store until it works.
 *
 * @param expected what would work
 * @param received what the server said
 * @param fix Default: the action on the page of errors
 */
export function setupError(
  code: SetupCode,
  expected: string,
  received: unknown,
  fix: string = setupAction(code),
): SluiceError {
  return new SluiceError({ code, option: 'store', expected, received, fix })
}
