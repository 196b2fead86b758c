/** 403: the client is on the deny list. 429 and 503 have registered problem types. */
export type RefusalStatus = 403 | 429 | 503

/** RFC 9457 §6.1. Frameworks may add a charset; the essence is what counts. */
export const PROBLEM_MEDIA_TYPE = 'application/problem+json'

const TYPES = 'https://iana.org/assignments/http-problem-types#'

const QUOTA_EXCEEDED = opening(429, 'quota-exceeded', 'Quota Exceeded')
const REDUCED_CAPACITY = opening(503, 'temporary-reduced-capacity', 'Temporary Reduced Capacity')

const ABNORMAL_USAGE = opening(429, 'abnormal-usage-detected', 'Abnormal Usage Detected')

/** The body for any request while the store fails. */
const UNAVAILABLE = `{"type":"${TYPES}temporary-reduced-capacity","title":"Temporary Reduced Capacity","status":503}`

/** The body for a denied client: no type says more than the status (RFC 9457 §4.2.1). */
const DENIED = '{"type":"about:blank","title":"Forbidden","status":403}'

/**
 * The body of a refusal: problem details (RFC 9457) of a type that draft-11 §5 defines. It names
 * the policies that refused and nothing of the client: no key, address or store error.
 *
 * @param status the response's own: the body must not differ
 * @param violated the names of the policies that refused; empty if no policy decided: a denied client,
 *   or while the store fails
 */
export function problemBody(
  status: RefusalStatus,
  violated: readonly string[],
  banned = false,
): string {
  if (status === 403) return DENIED
  if (violated.length === 0) return UNAVAILABLE
  let names = ''
  for (const name of violated) names += (names === '' ? '' : ',') + JSON.stringify(name)
  const quota = status === 503 ? REDUCED_CAPACITY : QUOTA_EXCEEDED
  return `${banned ? ABNORMAL_USAGE : quota}${names}]}`
}

function opening(status: 429 | 503, type: string, title: string): string {
  return `{"type":"${TYPES}${type}","title":"${title}","status":${status},"violated-policies":[`
}
