/**
 * The three serialisers of RFC 9651 (Structured Field Values) that the rate-limit fields need.
 * Each returns `undefined` where the RFC says "fail serialisation": the caller knows which option
 * to blame.
 */

/** The largest Integer of a structured field: 15 decimal digits (RFC 9651 §3.3.1). */
export const MAX_INTEGER = 999_999_999_999_999

/** RFC 9651 §4.1.4. */
export function serializeInteger(value: number): string | undefined {
  if (!Number.isInteger(value) || value < -MAX_INTEGER || value > MAX_INTEGER) return undefined
  return String(value)
}

/** RFC 9651 §4.1.6: printable ASCII only; `"` and `\` are escaped. */
export function serializeString(value: string): string | undefined {
  let text = '"'
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if (code < 0x20 || code > 0x7e) return undefined
    if (code === 0x22 || code === 0x5c) text += '\\'
    text += value.charAt(i)
  }
  return `${text}"`
}

/** RFC 9651 §4.1.8: base64 of RFC 4648 §4, with padding, between colons. */
export function serializeByteSequence(value: Uint8Array): string {
  return `:${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')}:`
}
