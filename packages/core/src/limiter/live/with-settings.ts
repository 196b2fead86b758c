import { SluiceError } from '../../errors/sluice-error.ts'
import { notIn, type PolicySettings } from '../../stores/documents/policy-document.ts'
import { Policy } from '../policy.ts'

/**
 * The policy of the code with other settings. Counts stay: the keyspace is the same.
 *
 * @param settings options in place of those that the user wrote
 * @throws SluiceError if one of them is wrong, or outside of the bounds of `live`
 */
export function withSettings({ code }: Policy, settings: PolicySettings = {}): Policy {
  const { path, given = {}, live } = code
  const policy = new Policy(path, { ...notIn(settings, given), ...settings, live: undefined }, code)
  if (allows(code, policy.limit)) return policy
  throw new SluiceError({
    code: 'SLUICE_OPTION_RANGE',
    option: code.at(code.limitOption),
    expected: `${live?.min} to ${live?.max}, the bounds of the option live`,
    received: policy.limit,
    fix: 'Choose a limit within the bounds, or change them in the application.',
  })
}

/** Whether a limit is within the bounds of `live`. */
export function allows({ live }: Policy, limit: number | undefined): boolean {
  return live === undefined || limit === undefined || (limit >= live.min && limit <= live.max)
}
