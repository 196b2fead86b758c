import { createHash } from 'node:crypto'
import type { Algorithm } from '../../algorithms/algorithm.ts'
import type { Connection } from './connection.ts'
import driver from './driver.lua.generated.ts'
import type { Reply } from './script-call.ts'

/**
 * One Lua program of the driver and the steps of some algorithms. Nothing of it is kept on the
 * client or stored ahead of time: a server that has lost it is told again by the very call that
 * finds out.
 */
export class Script {
  readonly text: string
  readonly sha: string
  private readonly numbers = new Map<string, number>()

  constructor(algorithms: Iterable<Algorithm>) {
    const steps = [...new Set([...algorithms].map((algorithm) => algorithm.lua))]
    for (const step of steps) this.numbers.set(step, this.numbers.size + 1)
    const composed = steps.map((step) => `(function()\n${step}\nend)()`).join(',\n')
    this.text = driver.replace('--[[STEPS]]', () => composed)
    this.sha = createHash('sha1').update(this.text).digest('hex')
  }

  /** The number, from 1, under which the driver knows an algorithm's step. */
  step(algorithm: Algorithm): number {
    return this.numbers.get(algorithm.lua) as number
  }

  /**
   * Runs it, by its digest where the server has it. `NOSCRIPT` says that nothing was executed, so
   * it is safe to send it whole then; after any other error it might count twice.
   */
  async run(connection: Connection, keys: string[], input: string): Promise<Reply> {
    let reply: unknown
    try {
      reply = await connection.evalsha(this.sha, keys, input)
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
      reply = await connection.eval(this.text, keys, input)
    }
    return reply as Reply
  }
}
