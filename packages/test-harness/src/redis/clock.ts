import { existsSync, readdirSync, rmSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { tryStart } from './try-start.ts'

const LIBRARY = 'faketime/libfaketimeMT.so.1'

/** The wall clock of one server, which a test can set. */
export interface ShiftedClock {
  /** The variables for the server's environment. */
  readonly env: NodeJS.ProcessEnv
  /** The files that libfaketime leaves when the process `pid` ends by SIGKILL. */
  leftovers(pid: number): string[]
  /** Shifts it against this machine's, in milliseconds. The server sees it at its next look. */
  set(offsetMs: number): Promise<void>
}

/**
 * A wall clock that lies to one process, by libfaketime: as with a real step, the
 * monotonic clock goes on undisturbed.
 *
 * @param folder Where the clock keeps its file.
 * @throws Error with how to get libfaketime. Tests that need it fail without it, as with Redis.
 */
export async function shiftedClock(folder: string, offsetMs: number): Promise<ShiftedClock> {
  const file = join(folder, 'clock')
  const set = async (ms: number) => {
    const written = `${file}.new`
    await writeFile(written, `${ms < 0 ? '-' : '+'}${Math.abs(ms) / 1000}`)
    // The server reads the file whenever it wants to, and must never see half of it.
    await rename(written, file)
  }
  const env = preload(faketimeLibrary(), file)
  await set(offsetMs)
  return { env, leftovers, set }
}

/**
 * Why the server can't have a clock of its own, or undefined when it can. Those that Debian 13
 * builds with jemalloc crash at their start: Redis 8 and Valkey 8 free memory of libc's by
 * jemalloc's own functions. Without libfaketime this is undefined: then the tests fail, and say so.
 */
export function whyNoClock(binary?: string): string | undefined {
  const library = findLibrary(process.env, '/usr')
  if (library === undefined) return undefined
  const { pid, signal } = tryStart(
    ['--loadmodule', '/nonexistent'],
    preload(library, '/nonexistent'),
    binary,
  )
  for (const path of leftovers(pid)) rmSync(path, { force: true })
  return signal ? `the server ends by ${signal} under libfaketime` : undefined
}

/** The environment of a server whose offset stands in this file. */
function preload(library: string, file: string): NodeJS.ProcessEnv {
  return {
    // The allocator of libc comes before the server's: jemalloc asks for the time while
    // libfaketime cannot tell it yet, and the server would not start.
    LD_PRELOAD: `${library}:libc.so.6`,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
}

function leftovers(pid: number): string[] {
  return [`/dev/shm/faketime_shm_${pid}`, `/dev/shm/sem.faketime_sem_${pid}`]
}

/** `$LIBFAKETIME`, or where the package `faketime` of Linux distributions puts it. */
export function faketimeLibrary(env: NodeJS.ProcessEnv = process.env, root = '/usr'): string {
  const library = findLibrary(env, root)
  if (library !== undefined) return library
  throw new Error(
    'a server clock can be set only with libfaketime, on Linux: install it ' +
      '(apt-get install faketime), or set LIBFAKETIME to its path',
  )
}

function findLibrary({ LIBFAKETIME }: NodeJS.ProcessEnv, root: string): string | undefined {
  return (LIBFAKETIME ? [LIBFAKETIME] : candidates(root)).find(existsSync)
}

function candidates(root: string): string[] {
  const folders = ['lib', 'lib64'].map((name) => join(root, name)).filter(existsSync)
  const nested = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
  return [...folders, ...nested].map((folder) => join(folder, LIBRARY))
}
