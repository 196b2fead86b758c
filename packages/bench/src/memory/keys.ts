/** Addresses, all different, as flat strings whose hash is known: as after a first request. */
export function makeKeys(count: number): string[] {
  const keys = Array.from({ length: count }, (_, i) =>
    Buffer.from(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`).toString('latin1'),
  )
  // A set has asked each for its hash.
  return [...new Set(keys)]
}

/** The keys in another order, the same one in each run. */
export function mix(keys: readonly string[]): string[] {
  const mixed = [...keys]
  let state = 12_345
  for (let i = mixed.length - 1; i > 0; i -= 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    const j = state % (i + 1)
    const key = mixed[i] as string
    mixed[i] = mixed[j] as string
    mixed[j] = key
  }
  return mixed
}
