import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { bundle, startBundle } from '@sluice/test-harness/processes'
import { until } from '@sluice/test-harness/redis'

/** The options of the limiter of a process. */
export interface Terms {
  /** The address of the Redis or PostgreSQL server. */
  readonly url: string
  readonly limit: number
  /** The most units that a document may set. */
  readonly max: number
  /** ms */
  readonly deadline: number
}

/** The answers of a process to one client. */
export interface Report {
  readonly admitted: number
  /** How long its slowest request took, ms. */
  readonly slowestMs: number
  /** How long its event loop stood still at most, ms. */
  readonly stalledMs: number
  /** The limits that its decisions had. */
  readonly limits: readonly number[]
  readonly sources: readonly string[]
}

interface Message {
  readonly ready?: true
  readonly limit?: number
  readonly warning?: string
  readonly report?: Report
}

/** A process of its own with a live policy. */
export class LimitingProcess {
  /** The limits that it has taken over, in this order. */
  readonly limits: number[] = []
  readonly warnings: string[] = []
  readonly #process: ChildProcess
  #isReady = false
  #report: Report | undefined

  private constructor(code: string, terms: Terms) {
    this.#process = startBundle(code, {
      flags: ['--no-warnings'],
      args: [JSON.stringify(terms)],
    })
    this.#process.on('message', ({ ready, limit, warning, report }: Message) => {
      if (ready) this.#isReady = true
      if (limit !== undefined) this.limits.push(limit)
      if (warning !== undefined) this.warnings.push(warning)
      if (report !== undefined) this.#report = report
    })
  }

  static async start(terms: Terms): Promise<LimitingProcess> {
    const code = await bundle(join(__dirname, 'workers', 'limiting.ts'))
    const started = new LimitingProcess(code, terms)
    await until(() => started.#isReady, { what: 'a process is ready' })
    return started
  }

  /** Takes all that a client gets. */
  async exhaust(key: string): Promise<Report> {
    this.#report = undefined
    this.#process.send(key)
    return until(() => this.#report, { what: 'a process was refused' }) as Promise<Report>
  }

  /** Waits until it has taken over a limit. */
  async has(limit: number): Promise<void> {
    await until(() => this.limits.at(-1) === limit, { what: `a process has the limit ${limit}` })
  }

  async stop(): Promise<void> {
    const exit = once(this.#process, 'exit')
    this.#process.kill('SIGKILL')
    await exit
  }
}
