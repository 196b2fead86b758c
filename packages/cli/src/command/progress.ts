import type { Io } from '@sluice/terminal/io'
import { count, duration, number, percent } from '@sluice/terminal/words'

/** How often it is shown, ms: in a terminal, and elsewhere. */
const DRAW_EVERY_MS = 100
const LINE_EVERY_MS = 2000
/** Characters of the bar. */
const WIDTH = 40
const CLEAR = '\r\u001b[K'

/**
 * Shows how far a replay is: in a terminal on a line that is overwritten, and removed at the end; elsewhere in a line
 * every two seconds.
 */
export class Progress {
  readonly #stream: Io['stderr']
  readonly #totalBytes: number | undefined
  readonly #started = performance.now()
  #next: number

  /** @param totalBytes undefined: the total is unknown */
  constructor(stream: Io['stderr'], totalBytes: number | undefined) {
    this.#stream = stream
    this.#totalBytes = totalBytes
    this.#next = this.#started + (stream.isTTY ? 0 : LINE_EVERY_MS)
  }

  /** @param bytes read so far, of the files as they are */
  update(bytes: number, lines: number): void {
    const now = performance.now()
    if (now < this.#next) return
    const { isTTY } = this.#stream
    this.#next = now + (isTTY ? DRAW_EVERY_MS : LINE_EVERY_MS)
    const tookMs = Math.max(1, now - this.#started)
    const rate = `${number(Math.round((lines * 1000) / tookMs))} a second`
    const share = this.#totalBytes && bytes / this.#totalBytes
    const known = share === undefined ? '' : `, ${percent(share)}`
    const text = `${count(lines, 'line')}${known}, ${rate}`
    this.#stream.write(isTTY ? `${CLEAR}${share ? barOf(share, tookMs) : ''}${text}` : `${text}\n`)
  }

  stop(): void {
    if (this.#stream.isTTY) this.#stream.write(CLEAR)
  }
}

/** `██████░░░░░░ 12 s left, ` */
function barOf(share: number, tookMs: number): string {
  const filled = Math.min(WIDTH, Math.round(share * WIDTH))
  const leftMs = Math.ceil((tookMs / share - tookMs) / 1000) * 1000
  return `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${duration(leftMs)} left, `
}
