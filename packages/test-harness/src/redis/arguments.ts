import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LOOPBACK } from './ports.ts'

/** The command line of a server without persistence. */
export function serverArguments(port: number, folder: string, isClusterNode: boolean): string[] {
  const own = placeArguments(port, folder)
  const volatile = ['--save', '', '--appendonly', 'no', '--repl-diskless-sync-delay', '0']
  return [...own, ...volatile, ...(isClusterNode ? ['--cluster-enabled', 'yes'] : [])]
}

/**
 * The command line of a sentinel with these lines of configuration. It writes what it learns into
 * its configuration, so that has to be a file.
 */
export async function sentinelArguments(
  port: number,
  folder: string,
  lines: readonly string[],
): Promise<string[]> {
  const file = join(folder, 'sentinel.conf')
  await writeFile(file, `${lines.join('\n')}\n`)
  return [file, '--sentinel', ...placeArguments(port, folder)]
}

function placeArguments(port: number, folder: string): string[] {
  return ['--port', `${port}`, '--bind', LOOPBACK, '--dir', folder]
}
