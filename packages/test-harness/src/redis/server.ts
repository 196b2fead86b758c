import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OwnProcess } from '../processes/own-process.ts'
import { sentinelArguments, serverArguments } from './arguments.ts'
import { type ShiftedClock, shiftedClock } from './clock.ts'
import { connected } from './control.ts'
import { type CommandStat, parseCommandStats, parseCpuMicros, parseInfo } from './info.ts'
import { freeClusterPorts, freePorts, LOOPBACK } from './ports.ts'
import { launch, PortTakenError, terminate } from './process.ts'

const ATTEMPTS = 5
/** How far two readings of one clock may be apart beyond the time between them. */
const CLOCK_SLACK_MS = 10

export interface StartOptions {
  /** Further arguments of the server, such as `['--maxmemory', '2mb']`; they win over the kit's. */
  readonly args?: readonly string[]
  /** The port to use, and no other. By default a free one. */
  readonly port?: number
  /** A node for a Redis Cluster. */
  readonly cluster?: boolean
  /** A sentinel instead, with these lines of configuration; a restart keeps what it has learned. */
  readonly sentinel?: readonly string[]
  /** Gives the server a wall clock of its own, so many milliseconds ahead; needs libfaketime. */
  readonly clockOffsetMs?: number
}

/**
 * Starts a Redis server on a loopback port, without persistence, in a folder of its own, and waits
 * until it answers.
 *
 * @param pickPorts Where ports come from; one that turns out to be taken is replaced by the next.
 * @throws PortTakenError when the port asked for is taken.
 */
export async function startRedis(
  options: StartOptions = {},
  pickPorts: (count: number) => Promise<number[]> = options.cluster ? freeClusterPorts : freePorts,
): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-redis-'))
  for (let attempt = 1; ; attempt++) {
    try {
      const setup = await setUp(options, await pickPorts(1), folder)
      return new RedisServer(setup, await run(setup))
    } catch (error) {
      const again = error instanceof PortTakenError && options.port === undefined
      if (again && attempt < ATTEMPTS) continue
      await rm(folder, { recursive: true, force: true })
      throw error
    }
  }
}

/** The common parts of every run of a server. */
interface Setup {
  readonly port: number
  readonly folder: string
  readonly args: readonly string[]
  readonly clock: ShiftedClock | undefined
}

async function setUp(options: StartOptions, ports: number[], folder: string): Promise<Setup> {
  const port = options.port ?? ports[0]!
  const own = options.sentinel
    ? await sentinelArguments(port, folder, options.sentinel)
    : serverArguments(port, folder, options.cluster === true)
  const offset = options.clockOffsetMs
  const clock = offset === undefined ? undefined : await shiftedClock(folder, offset)
  return { port, folder, args: [...own, ...(options.args ?? [])], clock }
}

function run({ args, folder, port, clock }: Setup): Promise<OwnProcess> {
  return launch(args, folder, port, clock)
}

/** A Redis server of the test's own. It dies with the test process, however that ends. */
export class RedisServer {
  readonly host = LOOPBACK
  readonly port: number
  readonly #setup: Setup
  #process: OwnProcess

  constructor(setup: Setup, process: OwnProcess) {
    this.port = setup.port
    this.#setup = setup
    this.#process = process
  }

  /** `redis://127.0.0.1:<port>` */
  get url(): string {
    return `redis://${this.host}:${this.port}`
  }

  /** The id of the process that runs now, or ran last: a restart changes it. */
  get pid(): number {
    return this.#process.pid
  }

  /** Ends the process, paused or not, gracefully if it can within 2 s, and removes its folder. */
  async stop(): Promise<void> {
    await terminate(this.#process)
    await rm(this.#setup.folder, { recursive: true, force: true })
  }

  /** Ends the process with SIGKILL, as a crash would. `restart` brings it back. */
  async kill(): Promise<void> {
    await this.#process.kill()
  }

  /** Freezes the process with SIGSTOP: its sockets stay open and nothing answers. */
  pause(): void {
    this.#process.signal('SIGSTOP')
  }

  resume(): void {
    this.#process.signal('SIGCONT')
  }

  /**
   * Ends the process, if it runs, and starts another on the same port. With `keepData` a running
   * one saves first, and the new one loads what was saved last; a paused one must be resumed first.
   */
  async restart({ keepData = false }: { readonly keepData?: boolean } = {}): Promise<void> {
    if (keepData && this.#process.isRunning()) await this.command('SAVE')
    await terminate(this.#process)
    if (!keepData) await this.#forget()
    this.#process = await run(this.#setup)
  }

  /** A cluster node keeps its nodes.conf: its place in the cluster is not data. */
  async #forget(): Promise<void> {
    const files = ['dump.rdb', 'appendonlydir', 'appendonly.aof']
    const paths = files.map((file) => join(this.#setup.folder, file))
    await Promise.all(paths.map((path) => rm(path, { recursive: true, force: true })))
  }

  /**
   * Sets the wall clock to so many milliseconds ahead of this machine's, negative ones behind,
   * now and for restarts. Only of a running server that was started with `clockOffsetMs`.
   *
   * @throws Error if the server does not report that time.
   */
  async setClock(offsetMs: number): Promise<void> {
    const { clock } = this.#setup
    if (!clock) throw new Error('only a server started with clockOffsetMs has a clock to set')
    await clock.set(offsetMs)
    const before = Date.now()
    const [seconds, micros] = (await this.command('TIME')) as [string, string]
    const shiftedBack = Number(seconds) * 1e3 + Number(micros) / 1e3 - offsetMs
    if (shiftedBack < before - CLOCK_SLACK_MS || shiftedBack > Date.now() + CLOCK_SLACK_MS)
      throw new Error('the server ignores libfaketime: is it linked statically?')
  }

  /** Sends one command and gives its reply (RESP2), within 5 s. */
  command(name: string, ...args: (string | number)[]): Promise<unknown> {
    return connected(this.port, (send) => send(name, ...args))
  }

  /** The fields of one section of INFO. */
  async info(section: string): Promise<Record<string, string>> {
    return parseInfo(String(await this.command('INFO', section)))
  }

  /** Calls and CPU time of every command since the start or CONFIG RESETSTAT, by lower-case name. */
  async commandStats(): Promise<Record<string, CommandStat>> {
    return parseCommandStats(await this.info('commandstats'))
  }

  /** CPU time of the process since its start, user and system, in microseconds. */
  async cpuMicros(): Promise<number> {
    return parseCpuMicros(await this.info('cpu'))
  }
}
