import { encode } from '#platform'

/** What the rate-limit fields need of RFC 9651 (Structured Field Values). */

/** The largest Integer of a structured field: 15 decimal digits (RFC 9651 §3.3.1). */
export const MAX_INTEGER = 999_999_999_999_999

/** RFC 9651 §4.1.6: `"` and `\` are escaped. @param value printable ASCII */
export function serializeString(value: string): string {
  return `"${value.replace(/["\\]/g, '\\$&')}"`
}

/** RFC 9651 §4.1.8: base64 of RFC 4648 §4, with padding, between colons. */
export function serializeByteSequence(value: Uint8Array): string {
  return `:${encode(value, 'base64')}:`
}
