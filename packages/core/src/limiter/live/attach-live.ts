import { conflict } from '../../errors/conflict.ts'
import { textOf } from '../../errors/thrown.ts'
import { warnOnce } from '../../errors/warning.ts'
import type { SharedDocuments } from '../../stores/documents/shared-documents.ts'
import type { Policy } from '../policy.ts'
import type { LivePolicy } from './live-policies.ts'

/**
 * Names policies: `api`, `api/burst`, `api:POST /login`. @returns those that documents, which know them by this name,
 * may change
 *
 * @param limiter the option `name` of the limiter
 * @param route the route that the policies are for, if it has limits of its own
 * @throws SluiceError if a policy would have no name
 */
export function namePolicies(
  policies: Policy[],
  limiter: string | undefined,
  route: string | undefined,
): readonly LivePolicy[] {
  return policies.flatMap((policy, place) => {
    const names = [limiter, policy.name === 'default' ? undefined : policy.name]
    const name = names.filter((each) => each !== undefined).join('/')
    const id = name === '' || route === undefined ? name : `${name}:${route}`
    policy.id = id
    if (policy.live === undefined) return []
    if (id === '')
      throw conflict(
        policy.at('live'),
        'a name, with live',
        undefined,
        "Add name: 'api', by which documents and commands know the policy.",
      )
    return { id, policies, place, limiter }
  })
}

/** The limiters that were made just now, until documents can change their policies. */
const attaching = new Set<Promise<void>>()

/** Resolves when documents can change the policies of all limiters that were made until now. */
export async function allAttached(): Promise<void> {
  await Promise.all(attaching)
}

/**
 * Lets documents change policies. The code for it is loaded now.
 *
 * @param changed called when the limits of some of them have changed
 * @returns ends it
 * @throws SluiceError if the store keeps no documents
 */
export function attachLive(
  documents: SharedDocuments,
  policies: readonly LivePolicy[],
  changed: () => void,
): () => void {
  if (!documents.isSupported)
    throw conflict(
      'live',
      'a store that keeps documents, with live',
      undefined,
      'Remove live, or add documents to the store.',
    )
  let detach: (() => void) | undefined
  let isOver = false
  const attached = import('./live-policies.ts')
    .then(({ livePoliciesOf }) => {
      if (!isOver) detach = livePoliciesOf(documents).attach(policies, changed)
    })
    .catch(warnOfLoading)
    .finally(() => attaching.delete(attached))
  attaching.add(attached)
  return () => {
    isOver = true
    detach?.()
  }
}

function warnOfLoading(error: unknown): void {
  warnOnce(
    'SLUICE_POLICY_DOCUMENT',
    `Live policies can't change in this process, because their code could not be loaded: ${textOf(error)}. The options ` +
      'hold. Let the bundler keep the files of @sluice/core that it imports dynamically.',
  )
}
