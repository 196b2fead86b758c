import type { SetupCode } from './codes.ts'
import { SluiceError } from './sluice-error.ts'

/**
 * The error of a store that can't work as it is set up. One such failure is enough for Sluice to do
 * without the store until it works.
 *
 * @param actions what to do about it, by code, as Markdown
 * @param expected what would work
 * @param said the server's message: shown as it is
 * @param fix Default: that of `actions`, without markup
 */
export function setupError<Code extends SetupCode>(
  actions: Readonly<Record<Code, string>>,
  code: Code,
  expected: string,
  said: string,
  fix: string = actions[code].replaceAll('`', ''),
): SluiceError {
  return new SluiceError({ code, option: 'store', expected, said, fix })
}
