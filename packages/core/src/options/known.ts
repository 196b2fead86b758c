import { SluiceError } from '../errors/sluice-error.ts'
import { hereInsteadOf } from './peer-names.ts'
import { suggestion } from './suggestion.ts'

/** Refuses options that don't exist: a misspelt one would be ignored otherwise. */
export function checkKnown(path: string, options: object, known: readonly string[]): void {
  for (const option of Object.keys(options)) {
    if (known.includes(option)) continue
    const received = (options as Record<string, unknown>)[option]
    throw new SluiceError({
      code: 'SLUICE_OPTION_UNKNOWN',
      option: path === '' ? option : `${path}.${option}`,
      expected: `one of the options ${known.join(', ')}`,
      received,
      fix: renaming(option, received, known),
    })
  }
}

/** What to do about an option that does not exist: perhaps another limiter has it. */
function renaming(option: string, value: unknown, known: readonly string[]): string {
  const here = hereInsteadOf(option, value)
  const [name = ''] = /^\w+/.exec(here ?? '') ?? []
  if (here !== undefined && known.includes(name)) return `Write ${here}.`
  return `Remove it or correct its name${suggestion(option, known)}.`
}
