import type { Io } from '@sluice/terminal/io'
import { count, number, percent } from '@sluice/terminal/words'
import { type Options, SingleBar } from 'cli-progress'

/** How often a line is written without a terminal, ms. */
const LINE_EVERY_MS = 2000
/** How often the bar is redrawn, per second. */
const FPS = 10

/** Shows how far a replay is. */
export interface Progress {
  /** @param bytes read so far, of the files as they are */
  update(bytes: number, lines: number): void
  stop(): void
}

/** @param totalBytes undefined: the total is unknown */
export function startProgress(stream: Io['stderr'], totalBytes: number | undefined): Progress {
  return stream.isTTY ? bar(stream, totalBytes) : plainLines(stream, totalBytes)
}

function bar(stream: Io['stderr'], totalBytes: number | undefined): Progress {
  const started = performance.now()
  const known = '{bar} {percentage} %, {lines} lines, {rate} a second, {eta_formatted} left'
  const options: Options = {
    format: totalBytes === undefined ? '{lines} lines, {rate} a second' : known,
    stream,
    fps: FPS,
    clearOnComplete: true,
    hideCursor: true,
    // The library would handle the interrupt itself.
    gracefulExit: false,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    etaBuffer: 100,
  }
  const drawn = new SingleBar(options)
  drawn.start(totalBytes ?? 0, 0, { lines: '0', rate: '0' })
  return {
    update(bytes, lines) {
      drawn.update(bytes, { lines: number(lines), rate: rate(lines, started) })
    },
    stop: () => drawn.stop(),
  }
}

function plainLines(stream: Io['stderr'], totalBytes: number | undefined): Progress {
  const started = performance.now()
  let next = started + LINE_EVERY_MS
  return {
    update(bytes, lines) {
      if (performance.now() < next) return
      next = performance.now() + LINE_EVERY_MS
      const share = totalBytes === undefined ? '' : `, ${percent(bytes / totalBytes)}`
      stream.write(`${count(lines, 'line')}${share}, ${rate(lines, started)} a second\n`)
    },
    stop() {},
  }
}

function rate(lines: number, started: number): string {
  return number(Math.round((lines * 1000) / Math.max(1, performance.now() - started)))
}
