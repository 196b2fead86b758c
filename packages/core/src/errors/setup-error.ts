import type { SetupCode } from './codes.ts'
import { SETUP_ACTIONS } from './setup-actions.ts'
import { SluiceError } from './sluice-error.ts'

/**
 * The error of a store that can't work as it is set up. One such failure is enough for Sluice to do
 * without the store until it works.
 *
 * @param expected what would work
 * @param said what the server said: shown as it is
 * @param fix Default: what the page of errors says, without markup
 */
export function setupError(
  code: SetupCode,
  expected: string,
  said: string,
  fix: string = SETUP_ACTIONS[code].replaceAll('`', ''),
): SluiceError {
  return new SluiceError({ code, option: 'store', expected, said, fix })
}
