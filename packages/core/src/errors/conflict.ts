import { SluiceError } from './sluice-error.ts'

/**
 * The error for options or calls that contradict each other.
 *
 * @param option the option or call at fault, as the user wrote it
 * @param expected what would have been accepted
 * @param received the value that was given: the error describes it and does not keep it
 * @param fix what to do about it, in the imperative
 */
export function conflict(
  option: string,
  expected: string,
  received: unknown,
  fix: string,
): SluiceError {
  return new SluiceError({ code: 'SLUICE_OPTION_CONFLICT', option, expected, received, fix })
}
