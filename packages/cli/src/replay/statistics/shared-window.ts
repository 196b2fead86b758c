import { BATCH } from '../runs/batch.ts'
import type { Spool } from './spool.ts'
import { type Most, TrueWindow } from './true-window.ts'

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
  readonly #clients = new Int32Array(BATCH)
  readonly #costs = new Float64Array(BATCH)
  readonly #masks = new Uint8Array(BATCH)

  /** @param lanes the most lanes that policies claim */
  constructor(windowMs: number, lanes: number) {
    this.window = new TrueWindow(windowMs, lanes + 1)
  }

  /** Units, when and by whom the most was asked for. */
  get most(): Most {
    return this.window.most[DEMAND] as Most
  }

  /** A lane for one more policy. */
  claim(): number {
    this.#claimed += 1
    return this.#claimed
  }

  /** Notes the request at a place of the batch, in a lane or in that of the demand alone. */
  mark(place: number, client: number, cost: number, lane = DEMAND): void {
    this.#clients[place] = client
    this.#costs[place] = cost
    this.#masks[place] = (this.#masks[place] as number) | (1 << lane) | (1 << DEMAND)
  }

  /** Counts the notes of a batch. */
  commit(times: Float64Array, length: number): void {
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
