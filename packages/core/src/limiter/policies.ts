import { conflict } from '../errors/conflict.ts'
import { checkObject, typeError } from '../options/checks.ts'
import { checkKnown } from '../options/known.ts'
import { OPTION_NAMES } from '../options/option-names.ts'
import { Policy } from './policy.ts'

/**
 * The most entries in the states of one request, of sliding logs and slots. A store decides all policies of a
 * request in one call, and may have to read all of them.
 */
const MAX_ENTRIES = 20_000

/** The limiter's policies from its options: `policies`, or the one of the options themselves. */
export function compilePolicies(
  options: { policies?: unknown; limit?: unknown; window?: unknown },
  known: readonly string[],
): [Policy, ...Policy[]] {
  const { policies } = options
  if (policies === undefined) {
    return [new Policy('', { ...options, name: undefined, dryRun: undefined })]
  }
  const inline = OPTION_NAMES.onlyPolicy.find((option) => (options as never)[option] !== undefined)
  if (inline !== undefined) {
    throw conflict(
      inline,
      'either policies, or the options of a single one',
      (options as never)[inline],
      `Move ${inline} into an entry of policies.`,
    )
  }
  if (!Array.isArray(policies) || policies.length === 0 || policies.length > 32) {
    throw typeError(
      'policies',
      policies,
      'an array of 1 to 32 policies',
      `Write policies: [{ name: 'burst', limit: 10, window: '1s' }].`,
    )
  }
  const compiled = policies.map((policy, i) => {
    const path = `policies[${i}]`
    checkKnown(path, checkObject(path, policy, 'a policy'), known)
    return new Policy(path, policy)
  })
  checkNamesDiffer(compiled)
  checkEntries(compiled)
  return compiled as [Policy, ...Policy[]]
}

/** Names that differ only in case are the same name in the next draft of the header fields. */
function checkNamesDiffer(policies: readonly Policy[]): void {
  const names = policies.map(({ name }) => name.toLowerCase())
  const i = names.findIndex((name, at) => names.indexOf(name) < at)
  if (i === -1) return
  throw conflict(
    `policies[${i}].name`,
    'a name of its own for each policy, whatever the case',
    policies[i]?.name,
    'Give each policy a different name, such as burst and daily.',
  )
}

function checkEntries(policies: readonly Policy[]): void {
  let entries = 0
  for (const { compiledLimit } of policies) {
    const { keepsLog, maxEntries } = compiledLimit?.algorithm ?? {}
    entries += maxEntries ?? (keepsLog ? (compiledLimit?.units as number) : 0)
  }
  if (entries <= MAX_ENTRIES) return
  throw conflict(
    'policies',
    `sliding logs with limits of at most ${MAX_ENTRIES} together`,
    entries,
    "Lower their limits, or choose 'sliding-window' for the largest: its state has three numbers.",
  )
}
