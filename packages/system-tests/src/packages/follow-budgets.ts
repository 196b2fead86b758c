// The section of docs/budgets.md that begins with an empty folder, as a reader follows it.

import { execFile, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { until } from '@sluice/test-harness/redis'

const page = resolve(import.meta.dirname, '../../../../docs/budgets.md')

/**
 * Writes the files, starts them, and runs the commands.
 *
 * @param folder an empty one, which finds what the section installs
 * @param ports The ports in place of 3000 and 4000
 * @returns what the last commands print, and what the section shows
 */
export async function followBudgets(
  folder: string,
  ports: readonly [gateway: number, provider: number],
  flags: readonly string[] = [],
): Promise<{ installed: string[]; printed: string; shown: string }> {
  const text = readFileSync(page, 'utf8')
  const [, section = ''] = /^## From an empty folder$(.*?)^## /ms.exec(text) ?? []
  const moved = section
    .replaceAll(/\b3000\b/g, `${ports[0]}`)
    .replaceAll(/\b4000\b/g, `${ports[1]}`)
  const files = [...moved.matchAll(/^`(\S+\.mjs)`.*?^```js\n(.*?)^```$/gms)]
  for (const [, name = '', code = ''] of files) writeFileSync(join(folder, name), code)
  const commands = [...moved.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, each = '']) => each)
  const [install = '', start = '', ask = ''] = commands
  const started = [...start.matchAll(/^node (\S+) &$/gm)].map(([, file = '']) => {
    const program = spawn(process.execPath, [...flags, file], { cwd: folder, stdio: 'inherit' })
    return { program, exited: new Promise((end) => program.once('exit', end)) }
  })
  try {
    for (const port of ports) await until(() => isOpen(port), { what: `${port} is open` })
    const { stdout } = await promisify(execFile)('bash', ['-c', ask], { cwd: folder })
    const [, shown = ''] = /^```text\n(.*?)^```$/ms.exec(moved) ?? []
    const installed = /npm install (.*)/.exec(install)?.[1]?.split(' ') ?? []
    return { installed, printed: stdout, shown }
  } finally {
    for (const { program, exited } of started) {
      program.kill()
      await exited
    }
  }
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((end) => {
    const socket = connect(port, 'localhost', () => {
      socket.destroy()
      end(true)
    }).once('error', () => end(false))
  })
}
