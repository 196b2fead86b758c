import { existsSync, readdirSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const LIBRARY = 'faketime/libfaketimeMT.so.1'

/** The wall clock of one server, which a test can set. */
export interface ShiftedClock {
  /** What the server's environment needs. */
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
  // The allocator of libc comes before the server's: jemalloc asks for the time while libfaketime
  // cannot tell it yet, and the server would not start.
  const preload = `${faketimeLibrary()}:libc.so.6`
  await set(offsetMs)
  return {
    env: {
      LD_PRELOAD: preload,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    leftovers: (pid) => [`/dev/shm/faketime_shm_${pid}`, `/dev/shm/sem.faketime_sem_${pid}`],
    set,
  }
}

/** `$LIBFAKETIME`, or where the package `faketime` of Linux distributions puts it. */
export function faketimeLibrary(env: NodeJS.ProcessEnv = process.env, root = '/usr'): string {
  const library = env.LIBFAKETIME || candidates(root).find(existsSync)
  if (library && existsSync(library)) return library
  throw new Error(
    'a server clock can be set only with libfaketime, on Linux: install it ' +
      '(apt-get install faketime), or set LIBFAKETIME to its path',
  )
}

function candidates(root: string): string[] {
  const folders = ['lib', 'lib64'].map((name) => join(root, name)).filter(existsSync)
  const nested = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
  return [...folders, ...nested].map((folder) => join(folder, LIBRARY))
}
