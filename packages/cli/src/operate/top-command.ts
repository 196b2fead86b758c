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
  if (isLive) await new LiveTop(ranker, io, flags.sort).run(everyMs, signal)
  else await printTop(ranker, io, flags, everyMs, signal)
  return EXIT.ok
}

/** Without a terminal: prints lines, or an object as JSON, after each reading. */
async function printTop(
  ranker: Ranker,
  { stdout, stderr }: Io,
  { json = false, sort, once }: TopFlags,
  everyMs: number,
  signal: AbortSignal,
): Promise<void> {
  let hasShown = false
  const show = (ranking: Ranking) => {
    hasShown = true
    if (json) stdout.write(`${JSON.stringify(printableReport(ranking))}\n`)
    else stdout.write(`${linesOf(ranking).join('\n')}\n\n`)
  }
  while (!signal.aborted) {
    const ranking = await ranker.rank(sort, signal, (soFar) => {
      // The first list is of what was read in a second. It says so; JSON has complete lists alone.
      if (hasShown || json) stderr.write(`reading: ${count(soFar.looked, 'key')} so far\n`)
      else show(soFar)
    })
    if (ranking !== undefined) show(ranking)
    if (once) return
    await sleep(everyMs, signal)
  }
}

/** The other screen of the terminal, without a cursor; each drawing overwrites the last. */
const ENTER = '\u001b[?1049h\u001b[?25l'
const LEAVE = '\u001b[?25h\u001b[?1049l'
const HOME = '\u001b[H'
const CLEAR_LINE = '\u001b[K'
const CLEAR_BELOW = '\u001b[J'

/** On a terminal: a table that is drawn again and again, until its user quits. */
class LiveTop {
  readonly #ranker: Ranker
  readonly #io: Io
  readonly #quitting = new AbortController()
  readonly #colors = pico.createColors(pico.isColorSupported)
  #order: Order
  #isPaused = false
  #ranking: Ranking | undefined
  #problem: string | undefined

  constructor(ranker: Ranker, io: Io, order: Order) {
    this.#ranker = ranker
    this.#io = io
    this.#order = order
  }

  async run(everyMs: number, signal: AbortSignal): Promise<void> {
    const { stdin, stdout } = this.#io
    const ending = AbortSignal.any([signal, this.#quitting.signal])
    stdout.write(ENTER)
    // The keys come one by one, without the Enter key.
    stdin.setRawMode?.(true)
    stdin.on('data', this.#read).resume()
    try {
      while (!ending.aborted) {
        await this.#rank(ending)
        await this.#pause(everyMs, ending)
      }
    } finally {
      stdin.off('data', this.#read)
      stdin.setRawMode?.(false)
      stdin.pause()
      stdout.write(LEAVE)
    }
  }

  async #rank(ending: AbortSignal): Promise<void> {
    try {
      const ranking = await this.#ranker.rank(this.#order, ending, (soFar) => {
        // A complete reading stays on the screen until the next one is complete.
        if (this.#ranking?.isComplete !== true) this.#show(soFar)
      })
      if (ranking !== undefined) this.#show(ranking)
    } catch (error) {
      // The last reading stays on the screen, and the next one follows.
      this.#problem = messageOf(error)
      this.#draw()
    }
  }

  #show(ranking: Ranking): void {
    this.#ranking = ranking
    this.#problem = undefined
    this.#draw()
  }

  /** Waits until the time is over and nobody has paused it, or a key has changed the order. */
  async #pause(ms: number, ending: AbortSignal): Promise<void> {
    const order = this.#order
    const until = performance.now() + ms
    while (
      !ending.aborted &&
      this.#order === order &&
      (this.#isPaused || performance.now() < until)
    )
      await sleep(Math.min(ms, 100), ending)
  }

  readonly #read = (chunk: Buffer | string): void => {
    for (const key of String(chunk)) this.#press(key)
  }

  #press(key: string): void {
    // Ctrl-C comes as a character where the terminal is raw.
    if (key === 'q' || key === '\u0003') this.#quitting.abort()
    if (key === 'p' || key === ' ') this.#isPaused = !this.#isPaused
    if (key === 's')
      this.#order = ORDERS[(ORDERS.indexOf(this.#order) + 1) % ORDERS.length] as Order
    this.#draw()
  }

  #draw(): void {
    const ranking = this.#ranking
    const isPaused = this.#isPaused
    const problem = this.#problem
    const order = this.#order
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
