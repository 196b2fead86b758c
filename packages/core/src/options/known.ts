import { SluiceError } from '../errors/sluice-error.ts'
import { nearest } from './nearest.ts'
import { OPTION_NAMES } from './option-names.ts'
import { hereInsteadOf, NOT_HERE, textFor } from './peer-names.ts'

/** Refuses options that don't exist: a misspelt one would be ignored otherwise. */
export function checkKnown(path: string, options: object, known: readonly string[]): void {
  for (const option of Object.keys(options)) {
    if (known.includes(option)) continue
    const received = (options as Record<string, unknown>)[option]
    const fix = fixFor(path, option, received, known)
    throw new SluiceError({
      code: 'SLUICE_OPTION_UNKNOWN',
      option: pathTo(path, option),
      expected: `one of the options ${known.join(', ')}`,
      received,
      fix: fix ?? 'Remove it or correct its name.',
      reason:
        fix === undefined
          ? `The options here are ${known.join(', ')}.`
          : `There is no option ${option} here.`,
    })
  }
}

/** Suggests the name that was probably meant, if there is one. */
function fixFor(
  path: string,
  option: string,
  value: unknown,
  known: readonly string[],
): string | undefined {
  const here = hereInsteadOf(option, value)
  const [name = ''] = /^\w+/.exec(here ?? '') ?? []
  if (here !== undefined && known.includes(name)) return `Write ${here}.`
  const why = textFor(option, NOT_HERE)
  if (why !== undefined) return `Remove it: ${why}.`
  if (known.includes('policies') && OPTION_NAMES.onlyPolicy.includes(option as never))
    return known.includes('limit') ? undefined : `Move ${option} into an entry of policies.`
  const isOfPolicy = path !== '' && OPTION_NAMES.httpPolicy.includes(option as never)
  if (OPTION_NAMES.http.includes(option as never) && !isOfPolicy) {
    return path !== '' || OPTION_NAMES.limiter.includes(option as never)
      ? 'Move it to the options of the limiter.'
      : 'Remove it: only adapters have it.'
  }
  const near = nearest(option, known)
  return near && `Correct its name (did you mean '${near}'?).`
}

/** An option in messages: `policies[0].limit`. */
export function pathTo(path: string, option: string): string {
  return path === '' ? option : `${path}.${option}`
}
