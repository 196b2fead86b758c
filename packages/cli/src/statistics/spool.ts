import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Requests in memory before they are written. */
const BLOCK = 16_384
/** Bytes of a request: its time, cost and client. */
const RECORD = 20

/**
 * Keeps the requests of a replay for a second pass over them, in a temporary file of 20 bytes
 * each. The file has no name any more once it is open: however the process ends, it is gone.
 */
export class Spool {
  private readonly file: number
  private readonly block = Buffer.alloc(BLOCK * RECORD)
  private used = 0
  private written = 0

  constructor() {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-'))
    try {
      this.file = openSync(join(folder, 'requests'), 'wx+', 0o600)
    } finally {
      rmSync(folder, { recursive: true })
    }
  }

  add(timeMs: number, client: number, cost: number): void {
    this.block.writeDoubleLE(timeMs, this.used)
    this.block.writeDoubleLE(cost, this.used + 8)
    this.block.writeInt32LE(client, this.used + 16)
    this.used += RECORD
    if (this.used === this.block.length) this.flush()
  }

  /** Calls with every request, in the order in which they were added. */
  forEach(call: (timeMs: number, client: number, cost: number) => void): void {
    this.flush()
    for (let at = 0; at < this.written; ) {
      const length = readSync(this.file, this.block, 0, this.block.length, at)
      for (let i = 0; i < length; i += RECORD) {
        const { block } = this
        call(block.readDoubleLE(i), block.readInt32LE(i + 16), block.readDoubleLE(i + 8))
      }
      at += length
    }
  }

  close(): void {
    closeSync(this.file)
  }

  private flush(): void {
    for (let from = 0; from < this.used; ) {
      from += writeSync(this.file, this.block, from, this.used - from, this.written + from)
    }
    this.written += this.used
    this.used = 0
  }
}
