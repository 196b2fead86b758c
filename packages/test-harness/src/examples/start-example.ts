import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundle } from '../processes/bundle.ts'
import { type Program, untilListening } from '../processes/until-listening.ts'

const STOPPED_CLOCK = pathToFileURL(join(__dirname, 'stopped-clock.mjs')).href

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
): Promise<Program> {
  const code = await bundle(join(folder, 'server.ts'))
  const flags = clock === 'stopped' ? ['--import', STOPPED_CLOCK] : []
  const child = spawn(process.execPath, [...flags, '--input-type=module', '-'], {
    cwd: folder,
    env: { ...process.env, ...env, PORT: '0' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.end(code)
  return untilListening(child)
}
