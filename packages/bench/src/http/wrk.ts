import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const SCRIPT = join(import.meta.dirname, 'wrk.lua')

export const CONNECTIONS = 50

export interface Load {
  readonly requests: number
  readonly seconds: number
  /** Of requests, without waiting for their turn. */
  readonly p50Ms: number
  readonly p99Ms: number
}

/**
 * Loads a server from one thread of a process of its own.
 *
 * @param perSecond requests to send; without it as many as the server answers
 * @throws Error if a request failed or was refused
 */
export async function wrk(url: string, seconds: number, perSecond?: number): Promise<Load> {
  const connections = ['--threads', '1', '--connections', `${CONNECTIONS}`]
  const pace = perSecond === undefined ? [] : [`${(1000 * CONNECTIONS) / perSecond}`]
  const args = [...connections, '--duration', `${seconds}s`, '--script', SCRIPT, url, '--', ...pace]
  const { stdout } = await promisify(execFile)('wrk', args)
  const { failed, ...load } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
  if (failed > 0) throw new Error(`${failed} of ${load.requests} requests failed`)
  return load
}
