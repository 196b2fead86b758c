import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundle } from '../processes/bundle.ts'
import { until } from '../redis/until.ts'

const STOPPED_CLOCK = pathToFileURL(join(__dirname, 'stopped-clock.mjs')).href

export interface Example {
  /** Where it listens, as it printed it. */
  readonly url: string
  /** What it has printed so far. */
  output(): string
  stop(): Promise<void>
}

/**
 * Starts an example on a free port, and waits until it has printed where it listens. Its own files and
 * those of the workspace are a bundle: `npm start` compiles them, which takes a second of CPU time.
 *
 * @param folder the example's
 * @param env the variables in addition to `PORT`
 * @param clock stopped: no window of an example that counts in its memory ends
 */
export async function startExample(
  folder: string,
  env: Record<string, string> = {},
  clock: 'running' | 'stopped' = 'running',
): Promise<Example> {
  const code = await bundle(join(folder, 'server.ts'))
  const flags = clock === 'stopped' ? ['--import', STOPPED_CLOCK] : []
  const child = spawn(process.execPath, [...flags, '--input-type=module', '-'], {
    cwd: folder,
    env: { ...process.env, ...env, PORT: '0' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.end(code)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
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
        if (child.exitCode !== null) throw new Error(`the example ended:\n${output}`)
        return output.match(/http:\/\/[\w.]+:\d+/)?.[0] ?? ''
      },
      { what: 'the example has printed its address' },
    )
    return { url, output: () => output, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
