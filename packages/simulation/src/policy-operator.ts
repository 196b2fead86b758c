import type { PolicyControl } from '@sluice/core'
import type { Documents } from '@sluice/core/store'
import type { InForce } from './checks/in-force.ts'
import { idOf } from './documents.ts'
import type { Owner } from './owner.ts'
import type { DocumentFault, PlannedPolicy } from './plan.ts'
import { SOCKETS } from './timeline.ts'

/** A process that an operator has. */
interface Place extends Owner {
  readonly inForce: InForce
}

/** Codes of errors that any operator may get. */
const REFUSALS = /^SLUICE_(STORE|OPTION|POLICY_UNKNOWN|POLICY_CHANGED)/

/** An operator changes the settings of live policies, or somebody writes a text in their place. */
export function operate(fault: DocumentFault, place: Place, policies: PolicyControl): void {
  place.machine.post(0, SOCKETS, () => {
    if (fault.kind === 'write policies') void writeByHand(fault, place)
    else void change(fault, place, policies)
  })
}

async function change(
  fault: Exclude<DocumentFault, { kind: 'write policies' }>,
  { name, machine, inForce, world }: Place,
  policies: PolicyControl,
): Promise<void> {
  const { timeline, fail, tell, stored, plan } = world
  const by = `operator ${stored.nextNumber()}`
  const askedAt = timeline.now
  inForce.operating += 1
  try {
    const seen = fault.sees ? ((await policies.history())[0]?.number ?? 0) : undefined
    const options = { by, ...(seen !== undefined && { seen }) }
    const made = await ask(fault, policies, options, plan.application.policies)
    tell('store', () => `confirms change ${made.number} by ${by}: ${JSON.stringify(made.after)}`)
    if (seen !== undefined && made.number !== seen + 1)
      fail('history', `${by} has seen change ${seen}, and makes change ${made.number}`)
  } catch (error) {
    const { code = '' } = error as { code?: string }
    tell(name, () => `says ${code} to ${by}`)
    if (!machine.isDead && !REFUSALS.test(code)) fail('escaped', `${name}: ${error}`)
    const others = stored.writers.filter((each) => each.at >= askedAt && each.by !== by)
    const isKnown = plan.faults.every(({ kind }) => !LOSING.includes(kind))
    if (code === 'SLUICE_POLICY_CHANGED' && others.length === 0 && isKnown)
      fail('history', `${by} gets an error about a change that nobody has made`)
  } finally {
    inForce.operating -= 1
  }
}

/** Faults after which the number of the last change is another one. */
const LOSING: readonly string[] = ['restart', 'flush', 'evict', 'write policies']

function ask(
  fault: Exclude<DocumentFault, { kind: 'write policies' }>,
  policies: PolicyControl,
  options: { readonly by: string },
  planned: readonly PlannedPolicy[],
): ReturnType<PolicyControl['set']> {
  const id = (i: number) => idOf(planned[i % planned.length] as PlannedPolicy)
  switch (fault.kind) {
    case 'set policy':
      return policies.set(id(fault.policy), fault.set, { ...options, for: fault.ms })
    case 'unset policy':
      return policies.unset(id(fault.policy), options)
    case 'apply policies':
      return policies.apply(
        Object.fromEntries(fault.all.map(({ policy, set }) => [id(policy), set])),
        options,
      )
    case 'roll back policies':
      return policies.rollback(undefined, options)
  }
}

/** Somebody writes past all checks. */
async function writeByHand(
  { json }: Extract<DocumentFault, { kind: 'write policies' }>,
  { inForce, world: { stored } }: Place,
): Promise<void> {
  const text = `${`${stored.nextNumber()}`.padStart(16, 'x')}\n${json}`
  stored.byHand.add(text)
  try {
    const documents = inForce.documents as Documents<'async'>
    const known = await documents.read('sluice', 'policies', '')
    await documents.replace('sluice', 'policies', (known.text ?? '').slice(0, 16), text, 1e9)
  } catch {
    // The store is away.
  }
}
