import type { PolicyDecision } from '@sluice/core'
import { MAX_INTEGER, type PolicyText } from '../policy-texts.ts'
import { namedPolicies, namedUsage } from './draft-11.ts'
import { createProfile, type FieldGroup } from './profile.ts'

/**
 * The dimension of quotas that differ by user: the only one that is known here and registered (§11.7). With `pk`, whose
 * bytes would then have to be the user's id itself (§4.2), nothing is declared.
 */
const partitions: FieldGroup = {
  fields: ['RateLimit-Partition'],
  usage: false,
  write({ policies, texts }, set) {
    let text = ''
    for (let i = 0; i < policies.length; i += 1) {
      const { namedPolicy, quotedName, partition } = texts[i] as PolicyText
      const isOfUser = (policies[i] as PolicyDecision).key.startsWith('user:')
      if (namedPolicy === undefined || partition !== '' || !isOfUser) continue
      text += `${text === '' ? '' : ', '}${quotedName};user_id`
    }
    if (text !== '') set('RateLimit-Partition', text)
  },
}

const usage = namedUsage('a', 'w', ({ charges }, i) => {
  const cost = charges[i]?.cost
  return cost === undefined ? '' : `;c=${Math.min(cost, MAX_INTEGER)}`
})

/**
 * What draft-ietf-httpapi-ratelimit-headers may become, in the text of 15 August 2026 (pull request 166):
 * `RateLimit: "default";a=50;w=30;c=1` and `RateLimit-Partition: "default";user_id`.
 */
export const draftNext = createProfile('draft-next', [namedPolicies, usage, partitions])
