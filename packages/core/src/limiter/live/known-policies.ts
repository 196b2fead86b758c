import { SluiceError } from '../../errors/sluice-error.ts'
import { checkObject, typeError } from '../../options/checks.ts'
import { type PolicySettings, SETTING_NAMES } from '../../stores/documents/policy-document.ts'
import type { SharedDocuments } from '../../stores/documents/shared-documents.ts'
import { KEYSPACES, keptAt } from '../../stores/inspection/kept-keyspaces.ts'
import { parseKeyspace } from '../../stores/inspection/keyspace-name.ts'
import {
  type KeptKeyspace,
  type KeptLive,
  parseLive,
  parseParams,
} from '../../stores/inspection/keyspace-text.ts'
import { Policy } from '../policy.ts'
import { allAttached } from './attach-live.ts'
import { livePoliciesOf } from './live-policies.ts'
import { withSettings } from './with-settings.ts'

/** The live policies that applications have, as their code has them, by name. */
export type KnownPolicies = ReadonlyMap<string, Policy>

/** The policies of this process, and those that others have written into the store. */
export async function knownPolicies(documents: SharedDocuments): Promise<KnownPolicies> {
  await allAttached()
  const known = new Map<string, Policy>()
  for (const [id, kept] of await keyspacesOfPolicies(documents)) {
    // Older versions of an application may have other windows: the one that is kept longest comes first.
    const policy = kept.map(policyOf).find((each) => each !== undefined)
    if (policy !== undefined) known.set(id, Object.assign(policy, { id }))
  }
  for (const { id, policies, place } of livePoliciesOf(documents).policies)
    known.set(id, (policies[place] as Policy).code)
  return known
}

/** The keyspaces in which applications count for live policies, by the names of these. */
export async function keyspacesOfPolicies(
  documents: SharedDocuments,
): Promise<ReadonlyMap<string, readonly KeptKeyspace[]>> {
  const { text, at } = await documents.read(KEYSPACES)
  const found = new Map<string, KeptKeyspace[]>()
  for (const kept of keptAt(text, at)) {
    const live = parseLive(kept.params)
    if (live !== undefined) found.set(live.id, [...(found.get(live.id) ?? []), kept])
  }
  return found
}

/** @throws SluiceError if no application has it */
export function knownPolicy(known: KnownPolicies, name: string): Policy {
  const policy = known.get(name)
  if (policy !== undefined) return policy
  const names = [...known.keys()].sort()
  throw new SluiceError({
    code: 'SLUICE_POLICY_UNKNOWN',
    option: 'name',
    expected: names.length === 0 ? 'a policy with the option live' : `one of ${names.join(', ')}`,
    said: `'${String(name).slice(0, 100)}'`,
    fix: 'Name a policy that has the option live, in an application that has had a request with this store and prefix.',
  })
}

/** @throws SluiceError if a setting is wrong, or no document may set it */
export function checkSettings(
  known: KnownPolicies,
  name: string,
  given: PolicySettings,
): PolicySettings {
  const policy = knownPolicy(known, name)
  checkObject('settings', given, 'settings such as { limit: 200 }')
  const settings = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  )
  for (const setting of Object.keys(settings)) {
    if (SETTING_NAMES.some((each) => each === setting)) continue
    throw new SluiceError({
      code: 'SLUICE_OPTION_UNKNOWN',
      option: setting,
      expected: `one of ${SETTING_NAMES.join(', ')}`,
      received: settings[setting],
      fix: `Change ${setting} in the code: it says where requests are counted, and all processes must agree on that.`,
    })
  }
  const varying = Object.keys(settings).find((each) => typeof settings[each] === 'function')
  if (varying !== undefined)
    throw typeError(
      varying,
      settings[varying],
      'the same value for every request',
      'Set a value: a function stays in its process.',
    )
  withSettings(policy, settings)
  return settings
}

/** A policy as the code of an application has it; undefined if this version can't read it. */
function policyOf({ name, params }: KeptKeyspace): Policy | undefined {
  const parts = parseKeyspace(name)
  const { min, max, enforced } = parseLive(params) as KeptLive
  // A function of the request is a function here.
  const { limit = () => max, burst, maxDelayMs } = parseParams(params) ?? {}
  if (parts === undefined) return undefined
  const common = { name: parts.policy, live: { limit: { min, max } }, enforce: enforced }
  const [unit, zone] = parts.calendar?.split(/:(.*):/) ?? []
  const algorithm = parts.algorithm.replace('reserved-', '')
  try {
    if (algorithm === 'concurrency')
      return new Policy('', { ...common, concurrent: limit } as never)
    return new Policy('', {
      ...common,
      limit,
      window: unit ?? parts.windowMs,
      timeZone: zone,
      algorithm: unit === undefined ? (algorithm as never) : undefined,
      burst,
      maxDelay: maxDelayMs,
    })
  } catch {
    return undefined
  }
}
