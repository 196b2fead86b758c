import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Requests per write. */
const BLOCK = 16_384
/** Bytes of a request: its time, cost and client. */
const RECORD = 20

/**
 * Keeps the requests of a replay for a second pass over them, in a temporary file of 20 bytes
 * each. The file is unlinked once it is open, so it disappears however the process ends.
 */
export class Spool {
  readonly #file = openNameless()
  readonly #block = new Uint8Array(BLOCK * RECORD)
  readonly #times = new Float64Array(this.#block.buffer, 0, BLOCK)
  readonly #costs = new Float64Array(this.#block.buffer, 8 * BLOCK, BLOCK)
  readonly #clients = new Int32Array(this.#block.buffer, 16 * BLOCK, BLOCK)
  #requests = 0

  add(timeMs: number, client: number, cost: number): void {
    const place = this.#requests % BLOCK
    this.#times[place] = timeMs
    this.#costs[place] = cost
    this.#clients[place] = client
    this.#requests += 1
    if (place === BLOCK - 1) this.#write()
  }

  /** Calls with every request, in the order in which they were added; after it none can be added. */
  forEach(call: (timeMs: number, client: number, cost: number) => void): void {
    this.#write()
    for (let from = 0; from < this.#requests; from += BLOCK) {
      this.#read(from * RECORD)
      const length = Math.min(BLOCK, this.#requests - from)
      for (let i = 0; i < length; i += 1) {
        call(this.#times[i] as number, this.#clients[i] as number, this.#costs[i] as number)
      }
    }
  }

  close(): void {
    closeSync(this.#file)
  }

  /** Writes the block in hand, the last one with what is left of the one before it. */
  #write(): void {
    if (this.#requests === 0) return
    const at = Math.floor((this.#requests - 1) / BLOCK) * this.#block.length
    for (let from = 0; from < this.#block.length; ) {
      from += writeSync(this.#file, this.#block, from, this.#block.length - from, at + from)
    }
  }

  #read(at: number): void {
    for (let from = 0; from < this.#block.length; ) {
      from += readSync(this.#file, this.#block, from, this.#block.length - from, at + from)
    }
  }
}

function openNameless(): number {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-'))
  try {
    return openSync(join(folder, 'requests'), 'wx+', 0o600)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
