import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundle, type Program, untilListening } from '@sluice/test-harness/processes'
import { type Block, blocksOf, serverOf } from '../readme/blocks.ts'

const STUBS = join(__dirname, '../readme/stubs')
const PRELOAD = pathToFileURL(join(__dirname, 'preload.mjs')).href

/** The first program of `docs/places/<page>.md`, as it is written. */
export function programOf(page: string): string {
  return serverOf(textOf(page)).source
}

/** The first program under a heading of `docs/places/<page>.md`, as it is written. */
export function sectionOf(page: string, heading: string): string {
  const section = textOf(page).split(`\n## ${heading}\n`)[1]
  if (section === undefined) throw new Error(`${page} has no section ${heading}`)
  return serverOf(section).source
}

function textOf(page: string): string {
  return readFileSync(join(__dirname, '../../../../docs/places', `${page}.md`), 'utf8')
}

/** The program for Nitro 3, with the Redis of the one before it. */
function nitroProgram(): string {
  const [first, second] = blocksOf('docs/places/nuxt.md', textOf('nuxt')) as [Block, Block]
  const redis = first.source.split('\n').filter((line) => /Redis|redis\./.test(line))
  return [...redis, second.source].join('\n')
}

/** The program for a busy machine: Redis decides, however late, and no window ends during a test. */
export function patientProgramOf(page: string): string {
  return (page === 'nitro' ? nitroProgram() : programOf(page))
    .replace('store: redis,', "store: redis, deadline: '30s',")
    .replace("window: '1m'", "window: '1d'")
}

export interface ProgramOptions {
  readonly env?: Record<string, string>
  /** The address that a connection from an address of loopback has instead. */
  readonly peers?: Record<string, string>
}

/** Programs as JavaScript, by their source. */
const bundles = new Map<string, Promise<string>>()

/**
 * Writes a program as JavaScript into this package, so that it finds what the package depends on.
 * The stubs that a page leaves to its reader are in `readme/stubs`.
 */
export async function writeProgram(source: string): Promise<{ file: string; folder: string }> {
  const folder = await mkdtemp(join(__dirname, '../../.blocks-'))
  await cp(STUBS, folder, { recursive: true })
  const script = join(folder, 'program.ts')
  await writeFile(script, source)
  const code = bundles.get(source) ?? bundle(script)
  bundles.set(source, code)
  const file = join(folder, 'program.mjs')
  await writeFile(file, await code)
  return { file, folder }
}

/** Starts a program, and waits until it listens. */
export async function startProgram(
  source: string,
  { env = {}, peers = {} }: ProgramOptions = {},
): Promise<Program> {
  const { file, folder } = await writeProgram(source)
  const child = spawn(process.execPath, ['--import', PRELOAD, file], {
    env: { ...process.env, ...env, PEERS: JSON.stringify(peers) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const clear = () => rm(folder, { recursive: true })
  try {
    const { stop, ...program } = await untilListening(child)
    return { ...program, stop: () => stop().then(clear) }
  } catch (error) {
    await clear()
    throw error
  }
}
