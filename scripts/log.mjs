// Keeps the output of commands in files while somebody waits for something else, and shows it if it matters.

import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pid, stdout } from 'node:process'

const folder = join(tmpdir(), `sluice-logs-${pid}`)
/** The most lines of a log that are shown. */
const LINES = 40

/** The path of a log with this name. */
export function logFile(name) {
  mkdirSync(folder, { recursive: true })
  return join(folder, `${name.replace(/\W+/g, '-')}.log`)
}

/** Prints the end of a log, and where all of it is. */
export function showLog(file) {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  console.error(lines.slice(-LINES).join('\n'))
  console.error(`All that was printed: ${file}`)
}

/** Removes all logs: nothing failed. */
export function removeLogs() {
  rmSync(folder, { recursive: true, force: true })
}

/**
 * Says in one line what is done, with a dot for each second and the time that it took.
 *
 * @param act gets the path of a log for what it prints
 * @returns what `act` returns
 */
export async function step(name, act) {
  const started = Date.now()
  stdout.write(`${name} `)
  const dots = setInterval(() => stdout.write('.'), 1000)
  const log = logFile(name)
  try {
    const done = await act(log)
    rmSync(log, { force: true })
    if (readdirSync(folder).length === 0) removeLogs()
    return done
  } finally {
    clearInterval(dots)
    stdout.write(` ${secondsSince(started)}\n`)
  }
}

/** Such as `12.3 s`. */
export function secondsSince(started) {
  return `${((Date.now() - started) / 1000).toFixed(1)} s`
}
