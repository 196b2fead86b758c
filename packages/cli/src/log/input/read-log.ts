import { detectFormat, EXPECTED } from '../formats/detect.ts'
import { openReader } from '../formats/open-reader.ts'
import type { FormatName, Reading } from '../formats/reading.ts'
import type { LogEntry } from '../log-entry.ts'
import { InputError } from './input-error.ts'
import type { LineSplitter } from './lines.ts'
import { readSource, type Source } from './source.ts'

/** The format must show in so much of a file. */
const BEGINNING = 64 * 1024
/** Unreadable lines that are kept. */
const KEPT = 5
const LF = 0x0a

export interface LogOptions {
  readonly sources: readonly Source[]
  /** Undefined: found out by the first file that is not empty. */
  readonly format: FormatName | undefined
  readonly reading: Reading
}

export interface UnreadableLine {
  readonly name: string
  /** The number of the line, from 1. */
  readonly line: number
  /** The beginning of the line; masked, its shape. */
  readonly text: string
  readonly reason: string
}

/** The time in the line itself: that of an entry is when the request began. */
function loggedAt({ time, durationMs }: LogEntry, { duration }: Reading): number {
  return duration?.loggedAt === 'end' ? time + durationMs : time
}

/** Reads the files of a log one after the other, and counts their lines. */
export class LogInput {
  format: FormatName | undefined
  lines = 0
  unreadable = 0
  /** Whether no line says more than the second in which it was written. */
  hasWholeSeconds = true
  readonly unreadableLines: UnreadableLine[] = []
  /** Bytes read from the files, before decompression. */
  bytes = 0
  readonly #options: LogOptions

  constructor(options: LogOptions) {
    this.#options = options
    this.format = options.format
  }

  /**
   * Reads everything.
   * @param take called with each entry
   * @param afterChunk called when a chunk's entries have been taken
   * @param signal ends the reading early
   * @throws InputError if a file, or everything in it, can't be read
   */
  async read(
    take: (entry: LogEntry) => void,
    afterChunk: () => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    for (const source of this.#options.sources) {
      if (!signal.aborted) await this.#readOne(source, take, afterChunk, signal)
    }
    if (!signal.aborted) this.#requireLines()
  }

  async #readOne(
    source: Source,
    take: (entry: LogEntry) => void,
    afterChunk: () => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    let reader: LineSplitter | undefined
    let begin = Buffer.alloc(0)
    const before = this.bytes
    const count = (bytes: number) => {
      this.bytes = before + bytes
    }
    for await (const chunk of readSource(source, count, signal)) {
      if (reader !== undefined) reader.write(chunk)
      else {
        begin = Buffer.concat([begin, chunk])
        if (!this.#isEnough(begin)) continue
        reader = this.#open(source, begin, take)
        reader.write(begin)
      }
      await afterChunk()
    }
    // A line that was cut off does not count.
    if (signal.aborted) return
    if (reader === undefined && begin.length > 0) {
      reader = this.#open(source, begin, take)
      reader.write(begin)
    }
    reader?.end()
    await afterChunk()
  }

  /** Whether the beginning of a file shows its format. */
  #isEnough(begin: Buffer): boolean {
    if (begin.length > BEGINNING) return true
    this.format ??= detectFormat(begin, this.#options.reading.fields)
    return this.format !== undefined && begin.includes(LF)
  }

  #open({ path, name }: Source, begin: Buffer, take: (entry: LogEntry) => void): LineSplitter {
    const { reading } = this.#options
    this.format ??= detectFormat(begin.subarray(0, BEGINNING), reading.fields)
    if (this.format === undefined) {
      const [first = ''] = begin.toString('utf8', 0, 200).split('\n')
      throw new InputError(
        `${path}: expected ${EXPECTED}; it begins with "${reading.mask.text(first)}". ` +
          'If it is one of them, say which with --format, and name its fields with --time and --key',
      )
    }
    return openReader(this.format, reading, {
      entry: (entry) => {
        this.lines += 1
        if (this.hasWholeSeconds) this.hasWholeSeconds = loggedAt(entry, reading) % 1000 === 0
        take(entry)
      },
      unreadable: (line, text, reason) => {
        this.lines += 1
        this.unreadable += 1
        if (this.unreadableLines.length < KEPT) {
          this.unreadableLines.push({ name, line, text: reading.mask.text(text), reason })
        }
      },
    })
  }

  #requireLines(): void {
    const { lines, unreadable } = this
    const names = this.#options.sources.map(({ path }) => path).join(', ')
    if (lines === 0) throw new InputError(`${names}: there is nothing in it; expected ${EXPECTED}`)
    if (unreadable < lines) return
    const reasons = this.unreadableLines.map((each) => `\nline ${each.line}: ${each.reason}`)
    throw new InputError(
      `${names}: none of its ${lines} lines can be read as ${this.format}; expected ${EXPECTED}` +
        reasons.join(''),
    )
  }
}
