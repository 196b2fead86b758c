type Numbers = Float64Array | Uint32Array | Int32Array | Uint8Array

/** The array itself if it has a place `index`, else a copy at least twice as long that has. */
export function withRoom<T extends Numbers>(array: T, index: number): T {
  if (index < array.length) return array
  const Column = array.constructor as new (length: number) => T
  const longer = new Column(Math.max(index + 1, array.length * 2))
  longer.set(array)
  return longer
}
