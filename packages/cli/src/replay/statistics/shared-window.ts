import { withRoom } from '../../log/columns.ts'
import type { Requests } from '../../log/requests.ts'
import type { Spool } from './spool.ts'
import { TrueWindow } from './true-window.ts'

/** The lane in which every request counts, admitted or not. */
const DEMAND = 0

/**
 * A true window that several policies share, because they count the same requests: what clients
 * asked for in its first lane, what each policy admitted in one of the others.
 */
export class SharedWindow {
  readonly window: TrueWindow
  /** The limits of the policies that share it. */
  readonly limits: (number | undefined)[] = []
  /** Keeps every request for a second pass; undefined if none is needed. */
  spool: Spool | undefined
  #claimed = DEMAND
  #clients = new Int32Array(1024)
  #costs = new Float64Array(1024)
  #masks = new Uint8Array(1024)

  /** @param lanes the most lanes that policies claim */
  constructor(windowMs: number, lanes: number) {
    this.window = new TrueWindow(windowMs, lanes + 1)
  }

  /** A lane for one more policy. */
  claim(): number {
    this.#claimed += 1
    return this.#claimed
  }

  /** Notes what clients ask for. */
  ask({ length, clients, costs }: Requests): void {
    for (let i = 0; i < length; i += 1) this.mark(i, clients[i] as number, costs[i] as number)
  }

  /** Notes the request at a place, in a lane or in that of the demand alone. */
  mark(place: number, client: number, cost: number, lane = DEMAND): void {
    if (place >= this.#masks.length) {
      this.#clients = withRoom(this.#clients, place)
      this.#costs = withRoom(this.#costs, place)
      this.#masks = withRoom(this.#masks, place)
    }
    this.#clients[place] = client
    this.#costs[place] = cost
    this.#masks[place] = (this.#masks[place] as number) | (1 << lane) | (1 << DEMAND)
  }

  /** Counts the notes. */
  commit({ length, times }: Requests): void {
    for (let i = 0; i < length; i += 1) {
      const mask = this.#masks[i] as number
      if (mask === 0) continue
      const client = this.#clients[i] as number
      const cost = this.#costs[i] as number
      this.window.add(times[i] as number, client, cost, mask)
      this.spool?.add(times[i] as number, client, cost)
      this.#masks[i] = 0
    }
  }

  /** The most units that the client asked for in a window. */
  peak(client: number): number {
    return this.window.peak(client, DEMAND)
  }
}
