import type { Io } from '@sluice/terminal/io'

/** The keys of a terminal, one by one, without the Enter key. */
export class Keyboard {
  readonly #stdin: Io['stdin']
  readonly #read: (chunk: Buffer | string) => void

  constructor(stdin: Io['stdin'], press: (key: string) => void) {
    this.#stdin = stdin
    this.#read = (chunk) => {
      for (const key of String(chunk)) press(key)
    }
    stdin.setRawMode?.(true)
    stdin.on('data', this.#read)
    stdin.resume()
  }

  /** Leaves the terminal as it was. */
  close(): void {
    this.#stdin.off('data', this.#read)
    this.#stdin.setRawMode?.(false)
    this.#stdin.pause()
  }
}
