import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { until } from '../redis/until.ts'

/** A server in a process of its own. */
export interface Program {
  /** Where it listens, as it printed it. */
  readonly url: string
  /** Returns its output so far. */
  output(): string
  stop(): Promise<void>
}

/**
 * Waits until a program has printed where it listens. If it never does, it is stopped.
 *
 * @param child its outputs are pipes
 * @param withinMs how long that may take
 */
export async function untilListening(child: ChildProcess, withinMs = 30_000): Promise<Program> {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const exited = once(child, 'exit')
  const stop = async () => {
    child.kill()
    await exited
  }
  try {
    const url = await until(
      () => {
        if (child.exitCode !== null) throw new Error(`the program ended:\n${output}`)
        return output.match(/http:\/\/[\w.]+:\d+/)?.[0] ?? ''
      },
      { withinMs, what: 'the program has printed its address' },
    )
    return { url, output: () => output, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
