/** The most bytes of a line that is kept: a file without line ends must not fill the memory. */
export const MAX_LINE = 1024 * 1024

const LF = 0x0a
const CR = 0x0d
const MARK = Buffer.from([0xef, 0xbb, 0xbf])

export interface LineSink {
  /** The bytes from `start` to `end` are valid until it returns. */
  line(bytes: Buffer, start: number, end: number): void
  /** @param beginning the first characters of the line */
  tooLong(beginning: Buffer): void
}

/** Cuts chunks into lines: without their ends (LF or CRLF), and without a byte order mark. */
export class LineSplitter {
  readonly #sink: LineSink
  /** The beginning of an unfinished line. If it is too long, only enough of it to know that. */
  #rest = Buffer.alloc(0)
  #first = true

  constructor(sink: LineSink) {
    this.#sink = sink
  }

  write(chunk: Buffer): void {
    let start = 0
    if (this.#rest.length > 0) {
      const end = chunk.indexOf(LF)
      this.#keep(end < 0 ? chunk : chunk.subarray(0, end))
      if (end < 0) return
      this.end()
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

  /** Takes the rest as a line. */
  end(): void {
    const line = this.#rest
    this.#rest = Buffer.alloc(0)
    if (line.length > 0) this.#emit(line, 0, line.length)
  }

  #keep(bytes: Buffer): void {
    const room = MAX_LINE + 2 - this.#rest.length
    if (room > 0) this.#rest = Buffer.concat([this.#rest, bytes.subarray(0, room)])
  }

  #emit(bytes: Buffer, start: number, end: number): void {
    if (this.#first && bytes.subarray(start, start + MARK.length).equals(MARK)) start += MARK.length
    this.#first = false
    const last = end > start && bytes[end - 1] === CR ? end - 1 : end
    if (last - start > MAX_LINE) this.#sink.tooLong(bytes.subarray(start, start + 200))
    else this.#sink.line(bytes, start, last)
  }
}
