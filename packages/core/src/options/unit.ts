import { SluiceError } from '../errors/sluice-error.ts'
import type { OptionType } from './types.ts'

/** The units that header fields have a word for. */
const KNOWN = ['requests', 'tokens', 'input-tokens', 'output-tokens', 'content-bytes'] as const

/** The unit that a policy counts: one that header fields have a name for, or your own. */
export type Unit = (typeof KNOWN)[number] | (string & Record<never, never>)

const KNOWN_TEXT = KNOWN.map((known) => `'${known}'`)
const OWN_UNIT = 'a name of your own, 1 to 64 of a-z 0-9 -'

/** A misspelt one would be taken for the user's own unit, and clients would not see it. */
export const unit: OptionType<Unit> = {
  form: `${KNOWN_TEXT.map((known) => `\`${known}\``).join(', ')}, or ${OWN_UNIT}`,
  typescript: 'Unit',
  check(option, value) {
    const meant =
      typeof value === 'string' ? KNOWN.find((known) => isLike(known, value)) : undefined
    if (meant === undefined ? isOwnName(value) : value === meant) return value as Unit
    throw new SluiceError({
      code: typeof value === 'string' ? 'SLUICE_OPTION_VALUE' : 'SLUICE_OPTION_TYPE',
      option,
      expected: `${KNOWN_TEXT.join(', ')}, or ${OWN_UNIT}`,
      received: value,
      fix:
        meant === undefined
          ? 'Name what the policy counts in lower case, such as rows.'
          : `Write '${meant}', or another name.`,
    })
  },
}

/** A policy with a window does not count concurrent requests. */
function isOwnName(value: unknown): boolean {
  if (typeof value !== 'string' || value === 'concurrent-requests') return false
  return /^[a-z][a-z0-9-]{0,63}$/.test(value)
}

/** Whether they differ only in case, punctuation or number. */
function isLike(known: string, given: string): boolean {
  const core = (name: string) => name.toLowerCase().replace(/s?[^a-z]+|s$/g, '')
  return core(known) === core(given)
}
