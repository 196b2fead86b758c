import { createReadStream, statSync } from 'node:fs'
import { stdin } from 'node:process'
import { addAbortSignal, pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { InputError } from './input-error.ts'

const CHUNK = 256 * 1024
const GZIP = Buffer.from([0x1f, 0x8b])

/** A file of the log, or standard input. */
export interface Source {
  /** As it was named; `-` is standard input. */
  readonly name: string
  /** Undefined where nobody can know. */
  readonly bytes: number | undefined
}

/** @throws InputError if one of them can't be read, before anything is */
export function sourcesOf(names: readonly string[]): Source[] {
  return names.map((name) => ({ name, bytes: name === '-' ? undefined : sizeOf(name) }))
}

function sizeOf(name: string): number | undefined {
  const stats = statSync(name, { throwIfNoEntry: false })
  if (stats === undefined) throw new InputError(`${name}: there is no such file`)
  if (stats.isDirectory()) throw new InputError(`${name}: this is a directory; name its files`)
  return stats.isFile() ? stats.size : undefined
}

/**
 * The bytes of a source in chunks, unpacked if they are gzip, whatever its name.
 *
 * @param onRead told of the bytes read, as they stand in the file
 * @param signal ends them early
 * @throws InputError where they can't be read, or are broken gzip
 */
export async function* readSource(
  { name }: Source,
  onRead: (bytes: number) => void,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const file = name === '-' ? stdin : createReadStream(name, { highWaterMark: CHUNK })
  addAbortSignal(signal, file)
  try {
    yield* unpacked(counted(file, onRead))
  } catch (error) {
    if (signal.aborted) return
    throw error instanceof InputError ? error : new InputError(`${name}: ${reasonOf(error)}`)
  } finally {
    file.destroy()
  }
}

async function* counted(file: Readable, onRead: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of file) {
    onRead((chunk as Buffer).length)
    yield chunk as Buffer
  }
}

/** Decides by the first two bytes, which may come one by one. */
async function* unpacked(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let begin = Buffer.alloc(0)
  while (begin.length < GZIP.length) {
    const { value, done } = await chunks.next()
    if (done) break
    begin = Buffer.concat([begin, value])
  }
  const whole = after(begin, chunks)
  if (!begin.subarray(0, GZIP.length).equals(GZIP)) yield* whole
  else yield* unzipped(whole)
}

function unzipped(chunks: AsyncGenerator<Buffer>): AsyncIterable<Buffer> {
  const gunzip = createGunzip({ chunkSize: CHUNK })
  // Its failure comes out where the chunks do.
  pipeline(Readable.from(chunks), gunzip, () => {})
  return gunzip
}

async function* after(begin: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  if (begin.length > 0) yield begin
  yield* rest
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return code?.startsWith('Z_') ? `broken gzip (${message})` : message
}
