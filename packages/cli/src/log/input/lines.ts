import type { LogSink } from '../formats/log-sink.ts'

/** The most bytes of a line that is kept: a file without line ends must not fill the memory. */
export const MAX_LINE = 1024 * 1024

const LF = 0x0a
const CR = 0x0d
const MARK = Buffer.from([0xef, 0xbb, 0xbf])

/** Reads the lines of a file. */
export interface LineReader {
  /**
   * The bytes from `start` to `end` are valid until it returns.
   * @param number the number of the line, from 1
   */
  line(bytes: Buffer, start: number, end: number, number: number): void
  /** No line comes that goes on with those before. */
  giveUp?(): void
}

/** Cuts chunks into lines: without their ends (LF or CRLF), and without a byte order mark. */
export class LineSplitter {
  readonly #reader: LineReader
  readonly #sink: LogSink
  /** The beginning of an unfinished line. If it is too long, only enough of it to know that. */
  #rest = Buffer.alloc(0)
  #number = 0

  constructor(reader: LineReader, sink: LogSink) {
    this.#reader = reader
    this.#sink = sink
  }

  write(chunk: Buffer): void {
    let start = 0
    if (this.#rest.length > 0) {
      const end = chunk.indexOf(LF)
      this.#keep(end < 0 ? chunk : chunk.subarray(0, end))
      if (end < 0) return
      this.#takeRest()
      start = end + 1
    }
    for (;;) {
      const end = chunk.indexOf(LF, start)
      if (end < 0) break
      this.#emit(chunk, start, end)
      start = end + 1
    }
    this.#keep(chunk.subarray(start))
  }

  end(): void {
    this.#takeRest()
    this.#reader.giveUp?.()
  }

  /** Takes the rest as a line. */
  #takeRest(): void {
    const line = this.#rest
    this.#rest = Buffer.alloc(0)
    if (line.length > 0) this.#emit(line, 0, line.length)
  }

  #keep(bytes: Buffer): void {
    const room = MAX_LINE + 2 - this.#rest.length
    if (room > 0) this.#rest = Buffer.concat([this.#rest, bytes.subarray(0, room)])
  }

  #emit(bytes: Buffer, start: number, end: number): void {
    this.#number += 1
    if (this.#number === 1 && bytes.subarray(start, start + MARK.length).equals(MARK))
      start += MARK.length
    const last = end > start && bytes[end - 1] === CR ? end - 1 : end
    if (last - start <= MAX_LINE) {
      this.#reader.line(bytes, start, last, this.#number)
      return
    }
    this.#reader.giveUp?.()
    const beginning = bytes.toString('utf8', start, start + 200)
    this.#sink.unreadable(this.#number, beginning, `longer than ${MAX_LINE} bytes`)
  }
}
