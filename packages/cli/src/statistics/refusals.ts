import { withRoom } from './columns.ts'

/** No streak: times are ms since the epoch, from 0. */
const NONE = -1

/** Who was refused, how often and for how long at a stretch. */
export class Refusals {
  /** Clients that met a refusal. */
  clients = 0
  longestMs = 0
  private counts = new Uint32Array(1024)
  /** When the client's present streak of refusals began, or `NONE`. */
  private since = new Float64Array(1024).fill(NONE)
  private longest = new Float64Array(1024)

  refuse(client: number, nowMs: number): void {
    if (client >= this.counts.length) this.makeRoom(client)
    const count = this.counts[client] as number
    if (count === 0) this.clients += 1
    this.counts[client] = count + 1
    if (this.since[client] === NONE) this.since[client] = nowMs
    else this.extend(client, nowMs)
  }

  admit(client: number): void {
    if (client < this.since.length) this.since[client] = NONE
  }

  /** Requests of the client that were refused. */
  count(client: number): number {
    return this.counts[client] ?? 0
  }

  /** The longest that the client met nothing but refusals, from the first to the last, ms. */
  longestOf(client: number): number {
    return this.longest[client] ?? 0
  }

  /** The clients refused most, most first; of equal ones the earlier client. */
  worst(most: number): number[] {
    const found: number[] = []
    for (let client = 0; client < this.counts.length; client += 1) {
      const count = this.counts[client] as number
      if (count === 0) continue
      if (found.length === most && count <= this.count(found[most - 1] as number)) continue
      const place = found.findIndex((other) => count > this.count(other))
      found.splice(place < 0 ? found.length : place, 0, client)
      found.length = Math.min(found.length, most)
    }
    return found
  }

  private extend(client: number, nowMs: number): void {
    const lasted = nowMs - (this.since[client] as number)
    if (lasted <= (this.longest[client] as number)) return
    this.longest[client] = lasted
    if (lasted > this.longestMs) this.longestMs = lasted
  }

  private makeRoom(client: number): void {
    const before = this.since.length
    this.counts = withRoom(this.counts, client)
    this.longest = withRoom(this.longest, client)
    this.since = withRoom(this.since, client).fill(NONE, before)
  }
}
