import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
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

/** @param input what standard input holds. Default: nothing */
export async function runCli(args: readonly string[], input?: string | Buffer): Promise<Ended> {
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
