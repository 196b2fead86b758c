import { SluiceError } from '../../errors/sluice-error.ts'
import { checkInteger, checkObject } from '../../options/checks.ts'
import { parseDuration } from '../../options/duration.ts'
import {
  byName,
  changed,
  POLICIES,
  POLICIES_TTL_MS,
  type PolicyChange,
  type PolicyDocument,
  type PolicyLayers,
  type PolicySettings,
  readOrNothing,
  type SettingsLayer,
  settingsAt,
  withLayer,
  writePolicies,
} from '../../stores/documents/policy-document.ts'
import type { SharedDocuments } from '../../stores/documents/shared-documents.ts'
import type { Policy } from '../policy.ts'
import { checkSettings, type KnownPolicies, knownPolicies, knownPolicy } from './known-policies.ts'
import type {
  ChangeOptions,
  PolicyControl,
  PolicyDifference,
  PolicyState,
  SetOptions,
} from './policy-state.ts'
import { withSettings } from './with-settings.ts'

// Few processes need these either.
export { keyspacesOfPolicies } from './known-policies.ts'
export { PolicyClientCounter } from './policy-clients.ts'
export { previewPolicy } from './policy-preview.ts'

/** The new layers of the policies that a change is about. */
type EditPolicies = (document: PolicyDocument, at: number) => PolicyLayers

/** What `PolicyControl` documents. */
export class PolicyChanges implements PolicyControl {
  readonly #documents: SharedDocuments

  constructor(documents: SharedDocuments) {
    this.#documents = documents
  }

  async list(): Promise<readonly PolicyState[]> {
    const known = await knownPolicies(this.#documents)
    const { text, at } = await this.#documents.read(POLICIES)
    const { policies, problem } = readOrNothing(text)
    return [...known]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, policy]) => {
        return stateOf(name, policy, policies[name], at, problem)
      })
  }

  set(name: string, settings: PolicySettings, options: SetOptions = {}): Promise<PolicyChange> {
    return this.#change('set', options, (known) => {
      const set = checkSettings(known, name, settings)
      const forMs = options.for === undefined ? undefined : parseDuration('for', options.for)
      return ({ policies }, at) => {
        const until = forMs === undefined ? undefined : at + forMs
        return { [name]: withLayer(policies[name] ?? [], { set, until }, at) }
      }
    })
  }

  unset(name: string, options?: ChangeOptions): Promise<PolicyChange> {
    return this.#change('unset', options, (known) => ({ policies }) => {
      // A policy that an application no longer has can be ended too.
      if (policies[name] === undefined) knownPolicy(known, name)
      return { [name]: [] }
    })
  }

  apply(
    given: Readonly<Record<string, PolicySettings>>,
    options?: ChangeOptions,
  ): Promise<PolicyChange> {
    return this.#change('apply', options, (known) => {
      const wanted = checkAll(known, given)
      return ({ policies }) => withAll(policies, wanted)
    })
  }

  async diff(
    given: Readonly<Record<string, PolicySettings>>,
  ): Promise<readonly PolicyDifference[]> {
    const known = await knownPolicies(this.#documents)
    const wanted = checkAll(known, given)
    const { text, at } = await this.#documents.read(POLICIES)
    const { policies } = readOrNothing(text)
    return Object.entries(withAll(policies, wanted)).map(([name, layers]) => {
      return { name, before: settingsAt(policies[name], at), after: settingsAt(layers, at) }
    })
  }

  async history(): Promise<readonly PolicyChange[]> {
    const { text } = await this.#documents.read(POLICIES)
    return [...readOrNothing(text).history].reverse()
  }

  rollback(number?: number, options?: ChangeOptions): Promise<PolicyChange> {
    if (number !== undefined) checkInteger('number', number, 1, Number.MAX_SAFE_INTEGER)
    return this.#change('rollback', options, () => ({ history }) => {
      const from = history.findIndex((each) => number === undefined || each.number === number)
      const undone = number === undefined ? history.slice(-1) : history.slice(from)
      if (from < 0)
        throw new SluiceError({
          code: 'SLUICE_OPTION_VALUE',
          option: 'number',
          expected: `a change that is remembered: ${history.map((each) => each.number).join(', ') || 'there is none'}`,
          received: number,
          fix: 'Choose a number from the history.',
        })
      return Object.assign(byName({}), ...undone.reverse().map(({ before }) => before))
    })
  }

  /**
   * Writes a change, once nobody has changed the document meanwhile. The changes of this process come in the order in
   * which they were asked for.
   *
   * @param plan checks the change, once the policies are known
   * @throws SluiceError if a policy could not take it over: then all processes would ignore the document
   */
  async #change(
    action: PolicyChange['action'],
    { by = 'application', from = 'api', seen }: ChangeOptions = {},
    plan: (known: KnownPolicies) => EditPolicies,
  ): Promise<PolicyChange> {
    let made: PolicyChange | undefined
    await this.#documents.change(POLICIES, action, async () => {
      const known = await knownPolicies(this.#documents)
      const edit = plan(known)
      return (text, at) => {
        const document = readOrNothing(text)
        const last = document.history.at(-1)
        if (seen !== undefined && (last?.number ?? 0) !== seen) throw changedMeanwhile(seen, last)
        const who = { at, by: cut(by), from: cut(from), action }
        return orFull(() => {
          const after = edit(document, at)
          for (const [name, layers] of Object.entries(after))
            checkTogether(known.get(name), layers, at)
          const next = changed(document, after, who)
          made = next.history.at(-1)
          return { text: writePolicies(next), ttlMs: POLICIES_TTL_MS }
        })
      }
    })
    return made as PolicyChange
  }
}

/** Checks what settings are together, now and when some of them have ended. @throws SluiceError */
function checkTogether(
  policy: Policy | undefined,
  layers: readonly SettingsLayer[],
  at: number,
): void {
  if (policy === undefined) return
  const moments = [at, ...layers.map(({ until }) => until ?? at)]
  for (const moment of moments) withSettings(policy, settingsAt(layers, moment))
}

function stateOf(
  name: string,
  policy: Policy,
  layers: readonly SettingsLayer[] | undefined,
  at: number,
  problem: string | undefined,
): PolicyState {
  const settings = settingsAt(layers, at)
  let inForce = policy
  try {
    inForce = withSettings(policy, settings)
  } catch (error) {
    problem = (error as SluiceError).message
  }
  const ends = (layers ?? []).flatMap(({ until }) =>
    until !== undefined && until > at ? until : [],
  )
  return {
    name,
    algorithm: policy.algorithm.name.replace('reserved-', ''),
    windowMs: policy.holdsSlots ? undefined : policy.windowMs,
    limit: inForce.limit,
    codeLimit: policy.limit,
    bounds: boundsOf(policy),
    enforced: inForce.enforced,
    problem,
    settings,
    until: ends.length === 0 ? undefined : Math.min(...ends),
  }
}

/** Undefined if the application has set none. */
function boundsOf({ live, algorithm }: Policy): PolicyState['bounds'] {
  return live?.min === 0 && live.max === algorithm.maxLimit ? undefined : live
}

function checkAll(
  known: KnownPolicies,
  given: Readonly<Record<string, PolicySettings>>,
): Record<string, PolicySettings> {
  checkObject('policies', given, 'settings by the names of policies: { api: { limit: 200 } }')
  const entries = Object.entries(given)
  return byName(
    Object.fromEntries(
      entries.map(([name, settings]) => [name, checkSettings(known, name, settings)]),
    ),
  )
}

function withAll(
  policies: PolicyLayers,
  wanted: Readonly<Record<string, PolicySettings>>,
): PolicyLayers {
  const after = byName<readonly SettingsLayer[]>({})
  for (const name of new Set([...Object.keys(policies), ...Object.keys(wanted)])) {
    const set = wanted[name]
    const layers = set === undefined ? [] : [{ set }]
    if (JSON.stringify(layers) !== JSON.stringify(policies[name] ?? [])) after[name] = layers
  }
  return after
}

/** Bounds what history keeps of a text. */
function cut(text: string): string {
  return String(text).slice(0, 100)
}

function orFull<T>(act: () => T): T {
  try {
    return act()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new SluiceError({
      code: 'SLUICE_POLICIES_FULL',
      option: 'settings',
      expected: 'fewer settings at the same time',
      said: error.message,
      fix: 'End settings that are no longer needed.',
    })
  }
}

function changedMeanwhile(seen: number, last: PolicyChange | undefined): SluiceError {
  return new SluiceError({
    code: 'SLUICE_POLICY_CHANGED',
    option: 'seen',
    expected: `${seen}, the last change that was seen`,
    said: `${last?.number ?? 0}${last === undefined ? '' : `, by ${last.by}`}`,
    fix: 'Look at what has changed, and try again.',
  })
}
