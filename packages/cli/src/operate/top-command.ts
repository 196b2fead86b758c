import { setTimeout } from 'node:timers/promises'
import { parseDuration } from '@sluice/core/operator'
import { EXIT, type ExitCode } from '@sluice/terminal/exit-code'
import type { Io } from '@sluice/terminal/io'
import { printableReport } from '@sluice/terminal/printable'
import { messageOf } from '@sluice/terminal/say'
import { UsageError } from '@sluice/terminal/usage-error'
import { count } from '@sluice/terminal/words'
import pico from 'picocolors'
import type { Connection } from './connection.ts'
import { ORDERS, type Order, type TopFlags } from './flags.ts'
import { Keyboard } from './keyboard.ts'
import { Ranker, type Ranking } from './ranking.ts'
import { linesOf, screenOf } from './top-screen.ts'

/** The most rows that are kept: no screen has more. */
const MAX_ROWS = 1000
/** The shortest pause between two readings, ms. */
const MIN_EVERY_MS = 100
const ROWS = 24
const COLUMNS = 80

/**
 * `sluice top`: who is nearest to, or over, which limit. On a terminal a table that is drawn again and
 * again; otherwise lines.
 *
 * @param signal ends it, as the key q does
 */
export async function topCommand(
  flags: TopFlags,
  { store }: Connection,
  io: Io,
  signal: AbortSignal,
): Promise<ExitCode> {
  const everyMs = parseDuration('--every', flags.every, MIN_EVERY_MS)
  const size = Number(flags.count)
  if (!/^\d+$/.test(flags.count) || size < 1 || size > MAX_ROWS) {
    throw new UsageError(`--count: expected 1 to ${MAX_ROWS}, received '${flags.count}'`)
  }
  const { prefix, policy } = flags
  const ranker = new Ranker(store, { prefix, policy }, size)
  const isLive = io.stdout.isTTY === true && io.stdin.isTTY === true && !flags.once && !flags.json
  const top = isLive ? new LiveTop(io, flags.sort) : new PlainTop(io, flags)
  const ending = AbortSignal.any([signal, top.quit])
  try {
    do {
      const ranking = await ranker
        .rank(top.order, ending, (soFar) => top.read(soFar))
        .catch((error) => top.fail(error))
      if (ranking !== undefined) top.show(ranking)
      if (flags.once || ending.aborted) break
      await top.pause(everyMs, ending)
    } while (!ending.aborted)
  } finally {
    top.end()
  }
  return EXIT.ok
}

/** Prints `top` without a terminal: lines, or an object as JSON, after each reading. */
class PlainTop {
  readonly quit = new AbortController().signal
  readonly order: Order
  readonly #io: Io
  readonly #json: boolean
  #hasShown = false

  constructor(io: Io, { json = false, sort }: TopFlags) {
    this.#io = io
    this.#json = json
    this.order = sort
  }

  /** The first list is of what was read in a second. It says so; JSON has complete lists alone. */
  read(soFar: Ranking): void {
    if (this.#hasShown || this.#json)
      this.#io.stderr.write(`reading: ${count(soFar.looked, 'key')} so far\n`)
    else this.show(soFar)
  }

  show(ranking: Ranking): void {
    const { stdout } = this.#io
    this.#hasShown = true
    if (this.#json) stdout.write(`${JSON.stringify(printableReport(ranking))}\n`)
    else stdout.write(`${linesOf(ranking).join('\n')}\n\n`)
  }

  fail(error: unknown): never {
    throw error
  }

  pause(ms: number, signal: AbortSignal): Promise<void> {
    return sleep(ms, signal)
  }

  end(): void {}
}

/** The other screen of the terminal, without a cursor; each drawing overwrites the last. */
const ENTER = '\u001b[?1049h\u001b[?25l'
const LEAVE = '\u001b[?25h\u001b[?1049l'
const HOME = '\u001b[H'
const CLEAR_LINE = '\u001b[K'
const CLEAR_BELOW = '\u001b[J'

class LiveTop {
  order: Order
  readonly #io: Io
  readonly #keyboard: Keyboard
  readonly #quitting = new AbortController()
  readonly #colors = pico.createColors(pico.isColorSupported)
  #isPaused = false
  #ranking: Ranking | undefined
  #problem: string | undefined
  #hasEnded = false

  constructor(io: Io, order: Order) {
    this.#io = io
    this.order = order
    io.stdout.write(ENTER)
    this.#keyboard = new Keyboard(io.stdin, (key) => this.#press(key))
  }

  get quit(): AbortSignal {
    return this.#quitting.signal
  }

  /** A complete reading stays on the screen until the next one is complete. */
  read(soFar: Ranking): void {
    if (this.#ranking?.isComplete !== true) this.show(soFar)
  }

  show(ranking: Ranking): void {
    this.#ranking = ranking
    this.#problem = undefined
    this.#draw()
  }

  /** The last reading stays on the screen, and the next one follows. */
  fail(error: unknown): undefined {
    this.#problem = messageOf(error)
    this.#draw()
  }

  /** Waits until the time is over and nobody has paused it, or a key has changed the order. */
  async pause(ms: number, signal: AbortSignal): Promise<void> {
    const order = this.order
    const until = performance.now() + ms
    while (
      !signal.aborted &&
      this.order === order &&
      (this.#isPaused || performance.now() < until)
    ) {
      await sleep(Math.min(ms, 100), signal)
    }
  }

  end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#keyboard.close()
    this.#io.stdout.write(LEAVE)
  }

  #press(key: string): void {
    // Ctrl-C comes as a character where the terminal is raw.
    if (key === 'q' || key === '\u0003') this.#quitting.abort()
    if (key === 'p' || key === ' ') this.#isPaused = !this.#isPaused
    if (key === 's') this.order = ORDERS[(ORDERS.indexOf(this.order) + 1) % ORDERS.length] as Order
    this.#draw()
  }

  #draw(): void {
    const ranking = this.#ranking
    const isPaused = this.#isPaused
    const problem = this.#problem
    const { order } = this
    if (this.#hasEnded) return
    const { columns = COLUMNS, rows = ROWS } = this.#io.stdout
    const lines = screenOf({ ranking, order, isPaused, problem, columns, rows }, this.#colors)
    this.#io.stdout.write(
      `${HOME}${lines.map((line) => line + CLEAR_LINE).join('\r\n')}${CLEAR_BELOW}`,
    )
  }
}

/** Ends early, without an error, when it is interrupted. */
async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => {})
}
