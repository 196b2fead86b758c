import { withRoom } from '../../log/columns.ts'

const BUCKETS = 65_536
const SHORTEST_BUCKET_MS = 1000

/**
 * How many keys a store has to hold: those whose quota is not full. Counted in buckets of a second
 * of the log, or of 1/16,384 of the time that a quota takes to be full again, whichever is longer.
 */
export class LiveKeys {
  /** The keys that live now. */
  count = 0
  readonly #bucketMs: number
  /** How many keys expire in each bucket, around a ring. */
  readonly #expiring = new Int32Array(BUCKETS)
  /** The bucket in which each client expires, counted from the epoch; 0: it is not live. */
  #buckets = new Float64Array(1024)
  #present = 0
  /** When the present bucket ends, ms. */
  #endMs = 0

  /** @param resetMs how long a quota commonly takes to be full again */
  constructor(resetMs: number) {
    this.#bucketMs = Math.max(SHORTEST_BUCKET_MS, Math.ceil((resetMs * 4) / BUCKETS))
  }

  /** Forgets expired keys. */
  advance(nowMs: number): void {
    if (nowMs < this.#endMs) return
    const present = Math.floor(nowMs / this.#bucketMs)
    this.#endMs = (present + 1) * this.#bucketMs
    const from = Math.max(this.#present + 1, present - BUCKETS + 1)
    for (let bucket = from; bucket <= present; bucket += 1) {
      const place = bucket % BUCKETS
      this.count -= this.#expiring[place] as number
      this.#expiring[place] = 0
    }
    this.#present = present
  }

  /** @param resetMs the time until the client's quota is full; 0: it is */
  touch(client: number, nowMs: number, resetMs: number): void {
    this.advance(nowMs)
    if (client >= this.#buckets.length) this.#buckets = withRoom(this.#buckets, client)
    const before = this.#buckets[client] as number
    const last = this.#present + BUCKETS - 1
    const expiry = resetMs === 0 ? 0 : Math.min(last, Math.ceil((nowMs + resetMs) / this.#bucketMs))
    if (expiry === before) return
    if (before > this.#present) this.#add(before, -1)
    if (expiry > this.#present) this.#add(expiry, 1)
    this.#buckets[client] = expiry
  }

  #add(bucket: number, keys: number): void {
    const place = bucket % BUCKETS
    this.#expiring[place] = (this.#expiring[place] as number) + keys
    this.count += keys
  }
}
