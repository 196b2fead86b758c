import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { fakeTerminal } from '@sluice/terminal/testing/fake-terminal'
import { project } from '@sluice/test-harness/packed'
import { sluice } from '../program.ts'
import { cliFile } from './bundle-cli.ts'

export interface Ended {
  /** Undefined where a signal ended it. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Starts the command as its own process. @param stdin the file that standard input comes from */
export async function startCli(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  stdin: number | 'pipe' = 'pipe',
): Promise<ChildProcessWithoutNullStreams> {
  return spawn(process.execPath, [await cliFile(), ...args], {
    env: { ...process.env, ...env },
    stdio: [stdin, 'pipe', 'pipe'],
  }) as ChildProcessWithoutNullStreams
}

/** What a replay says besides how far it is, which it says where it takes longer than two seconds. */
export function complaints(stderr: string): string {
  return stderr.replaceAll(/^.* a second\n/gm, '')
}

/**
 * Runs the command in this process, unless it reads standard input, or the installed one is tested.
 *
 * @param input what standard input holds. Default: nothing
 */
export async function runCli(args: readonly string[], input?: string | Buffer): Promise<Ended> {
  if (project !== undefined || input !== undefined) return runProcess(args, input)
  const io = fakeTerminal(false)
  const { signal: unread } = new AbortController()
  const code = await sluice(args, { io, unread, interrupted: () => unread })
  return { code, stdout: io.out(), stderr: io.err() }
}

/** Runs the command as its own process. */
export async function runProcess(args: readonly string[], input?: string | Buffer): Promise<Ended> {
  const child = await startCli(args)
  // It may end before it has read all.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  return ended(child)
}

export async function ended(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  const [stdout, stderr, code] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    new Promise<number | null>((resolve) => child.on('close', resolve)),
  ])
  return { code, stdout, stderr }
}

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  let text = ''
  for await (const chunk of stream) text += chunk
  return text
}
