import type { WireItem } from '../fields/wire-state.ts'

/** The status codes of a refusal that have a registered problem type. */
export type RefusalStatus = 429 | 503

/** RFC 9457 §6.1. Frameworks may add a charset; the essence is what counts. */
export const PROBLEM_MEDIA_TYPE = 'application/problem+json'

const TYPES = 'https://iana.org/assignments/http-problem-types#'

const QUOTA_EXCEEDED = opening(429, 'quota-exceeded', 'Quota Exceeded')
const REDUCED_CAPACITY = opening(503, 'temporary-reduced-capacity', 'Temporary Reduced Capacity')

/**
 * The body of a refusal: problem details (RFC 9457) of a type that draft-11 §5 defines. It names
 * the policies that refused and nothing of the client: no key, address or store error.
 *
 * @param status The response's own: a body must not say another.
 * @param violated At least one.
 */
export function problemBody(
  status: RefusalStatus,
  violated: readonly Pick<WireItem, 'policy'>[],
): string {
  let names = ''
  for (const { policy } of violated) names += names === '' ? policy.jsonName : `,${policy.jsonName}`
  return `${status === 503 ? REDUCED_CAPACITY : QUOTA_EXCEEDED}${names}]}`
}

function opening(status: RefusalStatus, type: string, title: string): string {
  return `{"type":"${TYPES}${type}","title":"${title}","status":${status},"violated-policies":[`
}

/** Of any request while the store fails: no policy was asked, so none is named. */
export const UNAVAILABLE_BODY = `{"type":"${TYPES}temporary-reduced-capacity","title":"Temporary Reduced Capacity","status":503}`

/** Of a denied client: there is no type beyond the status to tell (RFC 9457 §4.2.1). */
export const DENIED_BODY = '{"type":"about:blank","title":"Forbidden","status":403}'
