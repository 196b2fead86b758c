import { createReadStream, statSync } from 'node:fs'
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
 * The bytes of a source in chunks, unpacked if they are gzip, whatever its name.
 *
 * @param onRead called with the number of bytes read from the file so far (compressed, if it is)
 * @param signal ends them early
 * @throws InputError where they can't be read, are broken gzip, or are packed in another way
 */
export async function* readSource(
  { path }: Source,
  onRead: (bytes: number) => void,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const file = path === '-' ? stdin : createReadStream(path, { highWaterMark: CHUNK })
  try {
    for await (const chunk of await unpacked(path, addAbortSignal(signal, file))) {
      onRead((file as { bytesRead?: number }).bytesRead ?? 0)
      yield chunk
    }
  } catch (error) {
    if (signal.aborted) return
    throw error instanceof InputError ? error : new InputError(`${path}: ${reasonOf(error)}`)
  } finally {
    file.destroy()
  }
}

/** Decides by the first bytes, which may come one by one. */
async function unpacked(path: string, file: Readable): Promise<Readable> {
  let begin = Buffer.alloc(0)
  for await (const chunk of file.iterator({ destroyOnReturn: false })) {
    begin = Buffer.concat([begin, chunk])
    if (begin.length >= SHOWN) break
  }
  const packed = PACKED.find((each) => begin.subarray(0, each.begin.length).equals(each.begin))
  if (packed !== undefined) throw new InputError(howToUnpack(path, packed))
  if (file.readableEnded) return Readable.from(begin.length > 0 ? [begin] : [])
  file.unshift(begin)
  if (!begin.subarray(0, GZIP.length).equals(GZIP)) return file
  // A failure is thrown to the reader of the chunks.
  return pipeline(file, createGunzip({ chunkSize: CHUNK }), () => {})
}

function howToUnpack(path: string, { name, unpack }: (typeof PACKED)[number]): string {
  return path === '-'
    ? `standard input is ${name}: pipe it through ${unpack} first`
    : `${path}: this is ${name}; pipe it:  ${unpack} ${path} | sluice replay …`
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return code?.startsWith('Z_') ? `broken gzip (${message})` : message
}
