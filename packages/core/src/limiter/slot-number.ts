import { random32 } from '#platform'

let last: number | undefined

/** The number of a slot, 1 … 2^53 − 1: none that another process has in use, as good as certainly. */
export function nextSlot(): number {
  last ??= start()
  last = last === Number.MAX_SAFE_INTEGER ? 1 : last + 1
  return last
}

/** Where this process begins: 48 random bits. Some runtimes have none before the first request. */
function start(): number {
  return (random32() * 2 ** 16 + (random32() >>> 16)) * 2 ** 5
}
