import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundle, startBundle } from '@sluice/test-harness/processes'
import { until } from '@sluice/test-harness/redis'
import type { Work } from './asking-process.ts'
import type { History, Loss, Operation, Outage } from './history.ts'
import { KEYS } from './keys.ts'
import { monotonic, readLog } from './log.ts'
import { type Server, servers } from './servers.ts'

const PROCESSES = 4
/** About what a call and its answer take in a log, bytes. */
const CALL_BYTES = 200

/** A process that asks, and its log. */
interface Asking {
  readonly process: ChildProcess
  readonly name: string
  readonly log: string
  ended: number
}

/**
 * Lets several processes ask a real store, kills one of them, then the store, then another process, and reads
 * what they have written down.
 *
 * @param name a store of `servers`
 * @param calls how many, about, between two kills
 * @returns the history of each key
 */
export async function record(name: string, calls: number): Promise<ReadonlyMap<string, History>> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-histories-'))
  const server = await (servers[name] as () => Promise<Server>)()
  const recording = new Recording(server, folder, calls)
  try {
    await recording.start()
    await recording.killOne()
    const outages = await server.fail(() => recording.untilAnswered())
    await recording.killOne()
    await recording.stop()
    return recording.read(outages)
  } finally {
    await recording.stop()
    await server.stop()
    await rm(folder, { recursive: true })
  }
}

class Recording {
  readonly #server: Server
  readonly #folder: string
  readonly #calls: number
  readonly #all: Asking[] = []
  #code = ''

  constructor(server: Server, folder: string, calls: number) {
    this.#server = server
    this.#folder = folder
    this.#calls = calls
  }

  async start(): Promise<void> {
    this.#code = await bundle(join(import.meta.dirname, 'asking-process.ts'))
    for (let i = 0; i < PROCESSES; i += 1) this.#startOne()
    await this.untilAnswered()
  }

  /** Kills the process that has been there for longest, and starts another in its place. */
  async killOne(): Promise<void> {
    const one = this.#all.find(({ ended }) => ended === Infinity) as Asking
    await kill(one)
    const isGone = () => this.#server.isGone(one.name)
    await until(isGone, { what: 'the store has noticed that a process has ended' })
    one.ended = monotonic()
    this.#startOne()
    await this.untilAnswered()
  }

  /** Waits until every process asks, and there are as many calls more. */
  async untilAnswered(): Promise<void> {
    const asks = () => this.#all.every(({ log }) => existsSync(log) && statSync(log).size > 0)
    await until(asks, { everyMs: 10, what: 'every process asks' })
    const goal = this.#bytes() + this.#calls * CALL_BYTES
    await until(() => this.#bytes() >= goal, { everyMs: 10, what: 'the store has answered' })
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map(kill))
  }

  read(outages: ReadonlyMap<string, Outage | Loss>): ReadonlyMap<string, History> {
    const { clock } = this.#server
    const logs = this.#all.map(({ log, ended }, process) =>
      readLog(log, { process, ended, clock, outages }),
    )
    const histories = Object.entries(KEYS).map(([key, policies]): [string, History] => {
      const operations = logs.flatMap((log): readonly Operation[] => log.get(key) ?? [])
      const outage = outages.get(key)
      const losses = outage !== undefined && 'lost' in outage ? [outage] : []
      return [key, { policies, operations, losses, earlyMs: clock.backMs }]
    })
    return new Map(histories)
  }

  #startOne(): void {
    const seed = this.#all.length + 1
    const log = join(this.#folder, `${seed}.log`)
    const name = `asking-${seed}-`
    const work: Work = { address: this.#server.address, name, log, seed }
    const process = startBundle(this.#code, {
      args: [JSON.stringify(work)],
      flags: ['--no-warnings'],
    })
    this.#all.push({ process, name, log, ended: Infinity })
  }

  #bytes(): number {
    return this.#all.reduce((sum, { log }) => sum + statSync(log).size, 0)
  }
}

/** kill -9 */
async function kill(asking: Asking): Promise<void> {
  if (asking.ended !== Infinity) return
  const exit = once(asking.process, 'exit')
  asking.process.kill('SIGKILL')
  await exit
  asking.ended = monotonic()
}
