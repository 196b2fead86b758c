import { withRoom } from '../../log/columns.ts'

const PAGE = 4096
/** There is room for so many clients at first. */
const CLIENTS = 1024

/** Entries in the order of their times. */
class Page {
  readonly baseMs: number
  readonly offsets = new Uint32Array(PAGE)
  readonly clients = new Int32Array(PAGE)
  readonly masks = new Uint8Array(PAGE)
  /** Undefined while each of them is 1, as nearly all are. */
  costs: Float64Array | undefined
  begin = 0
  end = 0

  constructor(baseMs: number) {
    this.baseMs = baseMs
  }

  /** The largest offset that fits, ms. */
  get lastMs(): number {
    return this.baseMs + 0xffff_ffff
  }
}

/** The most that one client had in a window, and when that window ended, ms. */
export interface Most {
  readonly units: number
  readonly client: number
  readonly atMs: number
}

/**
 * The most units of each client in any true window `(t − windowMs, t]`, exactly, in up to eight
 * lanes: an entry counts in each lane whose bit is set in its mask. All clients' entries are in one
 * queue, because they leave their windows in the order in which they came.
 *
 * Memory: 9 bytes for each entry of the last window (17 where costs differ), 16 for each client and
 * lane.
 */
export class TrueWindow {
  readonly windowMs: number
  readonly lanes: number
  /** The most of all clients, by lane; the first of several. */
  readonly most: Most[]
  readonly #pages: Page[] = []
  /** The units in each client's window, by client and lane. */
  #sums: Float64Array
  #peaks: Float64Array

  constructor(windowMs: number, lanes: number) {
    this.windowMs = windowMs
    this.lanes = lanes
    this.#sums = new Float64Array(lanes * CLIENTS)
    this.#peaks = new Float64Array(lanes * CLIENTS)
    this.most = Array.from({ length: lanes }, () => ({ units: 0, client: -1, atMs: 0 }))
  }

  /** @param timeMs not before any that was added */
  add(timeMs: number, client: number, cost: number, mask: number): void {
    this.#dropUntil(timeMs - this.windowMs)
    if (cost > 0) this.#append(timeMs, client, cost, mask)
    const { lanes } = this
    const first = client * lanes
    if (first >= this.#sums.length) {
      this.#sums = withRoom(this.#sums, first + lanes - 1)
      this.#peaks = withRoom(this.#peaks, first + lanes - 1)
    }
    for (let lane = 0; lane < lanes; lane += 1) {
      if (((mask >> lane) & 1) === 0) continue
      const units = (this.#sums[first + lane] as number) + cost
      this.#sums[first + lane] = units
      if (units <= (this.#peaks[first + lane] as number)) continue
      this.#peaks[first + lane] = units
      if (units > (this.most[lane] as Most).units) {
        this.most[lane] = { units, client, atMs: timeMs }
      }
    }
  }

  /** Units; 0 for a client never added. */
  peak(client: number, lane: number): number {
    return this.#peaks[client * this.lanes + lane] ?? 0
  }

  #append(timeMs: number, client: number, cost: number, mask: number): void {
    let page = this.#pages[this.#pages.length - 1]
    if (page === undefined || page.end === PAGE || timeMs > page.lastMs) {
      page = new Page(timeMs)
      this.#pages.push(page)
    }
    const index = page.end
    page.end += 1
    page.offsets[index] = timeMs - page.baseMs
    page.clients[index] = client
    page.masks[index] = mask
    if (cost !== 1) page.costs ??= new Float64Array(PAGE).fill(1)
    if (page.costs !== undefined) page.costs[index] = cost
  }

  #dropUntil(timeMs: number): void {
    for (;;) {
      const page = this.#pages[0]
      if (page === undefined) return
      const until = timeMs - page.baseMs
      if (until < 0) return
      const { offsets, end } = page
      let index = page.begin
      for (; index < end && (offsets[index] as number) <= until; index += 1) this.#drop(page, index)
      page.begin = index
      if (index < PAGE && (index < end || this.#pages.length === 1)) return
      this.#pages.shift()
    }
  }

  #drop({ clients, masks, costs }: Page, index: number): void {
    const cost = costs === undefined ? 1 : (costs[index] as number)
    const mask = masks[index] as number
    const first = (clients[index] as number) * this.lanes
    for (let lane = 0; lane < this.lanes; lane += 1) {
      if (((mask >> lane) & 1) === 0) continue
      this.#sums[first + lane] = (this.#sums[first + lane] as number) - cost
    }
  }
}
