/**
 * A number from 0 to below 1 for a text, the same in every process: FNV-1a, then the finalizer of MurmurHash3.
 *
 * @param index an integer that is mixed in: the numbers of one text with several indexes tell nothing of each other
 */
export function fractionOf(text: string, index?: number): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = mix(hash)
  if (index !== undefined) hash = mix(hash ^ (index | 0))
  return (hash >>> 0) / 2 ** 32
}

function mix(value: number): number {
  let hash = value
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}
