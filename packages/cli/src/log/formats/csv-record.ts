const QUOTE = '"'

/**
 * `open`: a quoted field goes on in the next line. `broken`: behind the quote that ends a field is
 * neither a delimiter nor the end of the line.
 */
type State = 'complete' | 'open' | 'broken'

/**
 * A record of CSV (RFC 4180), parsed line by line. A quote within a field that does not
 * begin with one is text.
 */
export class CsvRecord {
  readonly fields: string[] = []
  readonly #delimiter: string
  /** The text of a quoted field so far; undefined: none is open. */
  #quoted: string | undefined

  constructor(delimiter: string) {
    this.#delimiter = delimiter
  }

  /** Takes the next line, without its end. */
  add(line: string): State {
    for (let at = 0; ; at += this.#delimiter.length) {
      if (this.#quoted === undefined && line[at] === QUOTE) {
        this.#quoted = ''
        at += 1
      }
      at = this.#quoted === undefined ? this.#takePlain(line, at) : this.#takeQuoted(line, at)
      if (at < 0) return 'open'
      if (at >= line.length) return 'complete'
      if (line[at] !== this.#delimiter) return 'broken'
    }
  }

  /** Returns where the field ends. */
  #takePlain(line: string, start: number): number {
    const delimiter = line.indexOf(this.#delimiter, start)
    const end = delimiter < 0 ? line.length : delimiter
    this.fields.push(line.slice(start, end))
    return end
  }

  /** Returns where the quoted field ends, behind its quote; -1: not in this line. */
  #takeQuoted(line: string, start: number): number {
    for (let at = start; ; ) {
      const quote = line.indexOf(QUOTE, at)
      if (quote < 0) {
        this.#quoted += `${line.slice(at)}\n`
        return -1
      }
      this.#quoted += line.slice(at, quote)
      at = quote + 2
      if (line[quote + 1] === QUOTE) {
        this.#quoted += QUOTE
        continue
      }
      this.fields.push(this.#quoted as string)
      this.#quoted = undefined
      return quote + 1
    }
  }
}
