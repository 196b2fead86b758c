import { describe } from '@jest/globals'

/** `describe`; with a reason against it, its tests are skipped and its name says why. */
export function describeUnless(reason: string | undefined, name: string, tests: () => void): void {
  if (reason === undefined) describe(name, tests)
  else describe.skip(`${name} (skipped: ${reason})`, tests)
}
