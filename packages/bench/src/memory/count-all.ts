import type { Count } from '../contenders/memory.ts'

/** Counts so many of the keys, from one of them on. */
export async function countAll(
  count: Count,
  keys: readonly string[],
  from = 0,
  many = keys.length,
): Promise<void> {
  let sum = 0
  for (let i = from; i < from + many; i += 1) {
    const result = count(keys[i] as string)
    sum += typeof result === 'number' ? result : await result
  }
  if (Number.isNaN(sum)) throw new Error('a count gave no number')
}
