import { execFile, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { type Program, untilListening } from '@sluice/test-harness/processes'
import { freePorts } from '@sluice/test-harness/redis'

/** Jest's own mode is `test`. */
const MODE = { NODE_ENV: 'production', ASTRO_TELEMETRY_DISABLED: '1' }

const PACK = pathToFileURL(join(__dirname, '../../../../scripts/release/pack.mjs')).href

/** Standard output. Rejects with all output where the command fails. */
export async function run(cwd: string, command: string, args: string[]): Promise<string> {
  try {
    const env = { ...process.env, ...MODE }
    return (await promisify(execFile)(command, args, { cwd, env })).stdout
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${command} ${args.join(' ')}\n${stdout}\n${stderr}`)
  }
}

/** Packs Sluice into a new folder, in which the projects of frameworks go. */
export async function packSluice(): Promise<string> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-places-')))
  const script = `import { pack } from '${PACK}'; await pack(process.argv[1])`
  await run(folder, process.execPath, ['--input-type=module', '-e', script, folder])
  return folder
}

/** A project with a framework, as its users install it, and Sluice from its tarballs. */
export class PackedProject {
  readonly #tarballs: string
  readonly folder: string

  /** @param tarballs from `packSluice` */
  constructor(tarballs: string, name: string) {
    this.#tarballs = tarballs
    this.folder = join(tarballs, name)
    mkdirSync(this.folder)
    this.write('package.json', '{ "private": true, "type": "module" }')
  }

  write(file: string, text: string): void {
    const path = join(this.folder, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }

  /** @param sluice the package of Sluice that the project uses */
  async install(sluice: string, ...packages: string[]): Promise<void> {
    const tarballs = readdirSync(this.#tarballs)
      .filter((file) => new RegExp(`^sluice-(core|http|${sluice})-\\d`).test(file))
      .map((file) => join(this.#tarballs, file))
    const options = ['--no-audit', '--no-fund', '--prefer-offline']
    await run(this.folder, 'npm', ['install', ...options, ...packages, ...tarballs])
  }

  /** Starts a server of the project on a free port of loopback. */
  async start(
    file: string,
    { node = process.execPath, env = {} }: { node?: string; env?: Record<string, string> } = {},
  ): Promise<Program> {
    const [port] = await freePorts(1)
    const child = spawn(node, [file], {
      cwd: this.folder,
      env: { ...process.env, ...MODE, HOST: '127.0.0.1', PORT: `${port}`, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    return untilListening(child)
  }
}
