import { statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import { stdin } from 'node:process'
import { addAbortSignal, pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { InputError } from './input-error.ts'

const CHUNK = 256 * 1024
const GZIP = Buffer.from([0x1f, 0x8b])
/** The first bytes of other archives, and the programs that unpack them. */
const PACKED = [
  { name: 'Zstandard', begin: Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), unpack: 'zstd -dc' },
  { name: 'xz', begin: Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]), unpack: 'xz -dc' },
  { name: 'bzip2', begin: Buffer.from('BZh'), unpack: 'bzip2 -dc' },
]
/** How many bytes show whether a file is packed. */
const SHOWN = Math.max(...PACKED.map(({ begin }) => begin.length))

/** A file of the log, or standard input. */
export interface Source {
  /** The path as it was given; `-` is standard input. */
  readonly path: string
  /** The path without its folder. */
  readonly name: string
  /** Undefined if it is unknown. */
  readonly bytes: number | undefined
}

/** @throws InputError if one of them can't be read, before anything is read */
export function sourcesOf(paths: readonly string[]): Source[] {
  return paths.map((path) => ({
    path,
    name: basename(path),
    bytes: path === '-' ? undefined : sizeOf(path),
  }))
}

function sizeOf(path: string): number | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) throw new InputError(`${path}: there is no such file`)
  if (stats.isDirectory()) throw new InputError(`${path}: this is a directory; name its files`)
  return stats.isFile() ? stats.size : undefined
}

/**
 * The bytes of a source in chunks, unpacked if they are gzip, whatever its name. A chunk is valid
 * until the next one is asked for.
 *
 * @param onRead called with the number of bytes read from the file (compressed, if it is)
 * @param signal ends them early
 * @throws InputError where they can't be read, are broken gzip, or are packed in another way
 */
export async function* readSource(
  { path }: Source,
  onRead: (bytes: number) => void,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const chunks = path === '-' ? standardInput(signal) : fileChunks(path, signal)
  try {
    yield* unpacked(path, counted(chunks, onRead))
  } catch (error) {
    if (signal.aborted) return
    throw error instanceof InputError ? error : new InputError(`${path}: ${reasonOf(error)}`)
  }
}

async function* standardInput(signal: AbortSignal): AsyncGenerator<Buffer> {
  yield* addAbortSignal(signal, stdin)
}

/**
 * The chunks of a file, always in the same memory: a stream would allocate for each. The next chunk is
 * read while the last one is in use.
 */
async function* fileChunks(path: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  const file = await open(path)
  const buffers = [Buffer.allocUnsafe(CHUNK), Buffer.allocUnsafe(CHUNK)] as const
  const read = (turn: number) => file.read(buffers[turn % 2] as Buffer, 0, CHUNK, null)
  let next = read(0)
  try {
    for (let turn = 1; !signal.aborted; turn += 1) {
      const { bytesRead, buffer } = await next
      if (bytesRead === 0) return
      next = read(turn)
      // A failure is reported when the next chunk is asked for, which may never happen.
      next.catch(() => {})
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await next.catch(() => {})
    await file.close()
  }
}

async function* counted(
  chunks: AsyncGenerator<Buffer>,
  onRead: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    onRead(chunk.length)
    yield chunk
  }
}

/** Decides by the first bytes, which may come one by one. */
async function* unpacked(path: string, chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let begin = Buffer.alloc(0)
  while (begin.length < SHOWN) {
    const { value, done } = await chunks.next()
    if (done) break
    begin = Buffer.concat([begin, value])
  }
  const packed = PACKED.find((each) => begin.subarray(0, each.begin.length).equals(each.begin))
  if (packed !== undefined) {
    await chunks.return(undefined)
    throw new InputError(howToUnpack(path, packed))
  }
  const whole = after(begin, chunks)
  if (!begin.subarray(0, GZIP.length).equals(GZIP)) yield* whole
  else yield* unzipped(whole)
}

function howToUnpack(path: string, { name, unpack }: (typeof PACKED)[number]): string {
  return path === '-'
    ? `standard input is ${name}: pipe it through ${unpack} first`
    : `${path}: this is ${name}; pipe it:  ${unpack} ${path} | sluice replay …`
}

function unzipped(chunks: AsyncGenerator<Buffer>): AsyncIterable<Buffer> {
  const gunzip = createGunzip({ chunkSize: CHUNK })
  // Its failure is thrown to the reader of the chunks.
  pipeline(Readable.from(copied(chunks)), gunzip, () => {})
  return gunzip
}

/** Copies chunks, for a reader that has one in hand while it asks for the next. */
async function* copied(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield Buffer.from(chunk)
}

async function* after(begin: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  if (begin.length > 0) yield begin
  yield* rest
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return code?.startsWith('Z_') ? `broken gzip (${message})` : message
}
