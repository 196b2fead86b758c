import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { build } from 'esbuild'
// @ts-expect-error: it has no types.
import workerd from 'workerd'
import { packedPackages } from '../packed/index.ts'
import { dieWithParent } from '../redis/guard.ts'

/** As of which date the runtime behaves. */
const COMPATIBILITY_DATE = '2026-11-17'

export interface WorkerdOptions {
  /** The worker's module, in TypeScript. */
  readonly source: string
  /** Where its imports are resolved from. */
  readonly folder: string
  /** Variables of the worker. */
  readonly vars?: Readonly<Record<string, string>>
  /** How many isolates run the worker, each at an address of its own. Default: 1 */
  readonly isolates?: number
  /** Durable objects: the classes that the module exports, by the names of their bindings. */
  readonly objects?: Readonly<Record<string, string>>
}

/** Cloudflare's runtime, with one worker. */
export interface Workerd {
  /** One for each isolate: `http://127.0.0.1:<port>` */
  readonly urls: readonly string[]
  /** Returns its output. */
  log(): string
  /** Ends the process and starts another one, with what durable objects have stored: none is in memory. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** Bundles a module for the web, as wrangler does, and starts workerd with it. */
export async function startWorkerd(options: WorkerdOptions): Promise<Workerd> {
  const { source, folder, isolates = 1, vars = {}, objects = {} } = options
  const home = await mkdtemp(join(tmpdir(), 'sluice-workerd-'))
  await build({
    stdin: { contents: source, resolveDir: folder, loader: 'ts' },
    bundle: true,
    platform: 'browser',
    conditions: ['workerd', 'worker'],
    format: 'esm',
    target: 'es2022',
    external: ['cloudflare:*'],
    outfile: join(home, 'worker.js'),
    plugins: [packedPackages],
    logLevel: 'silent',
  })
  const names = Array.from({ length: isolates }, (_, i) => `isolate${i}`)
  await writeFile(join(home, 'config.capnp'), configOf(names, vars, objects, home))

  let log = ''
  let urls: string[] = []
  let end = async () => {}
  const start = async () => {
    const args = ['serve', '--experimental', '--control-fd=3', join(home, 'config.capnp')]
    const child = spawn(workerd, args, {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    })
    for (const stream of [child.stdout, child.stderr] as Readable[]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        log += text
      })
    }
    const exited = once(child, 'exit')
    const disarm = dieWithParent(child.pid as number, [home])
    end = async () => {
      child.kill('SIGKILL')
      await exited
      await disarm()
    }
    const ports = new Map<string, number>()
    const failed = exited.then(() => {
      throw new Error(`workerd ended: ${log}`)
    })
    const listening = (async () => {
      for await (const line of createInterface(child.stdio[3] as Readable)) {
        const { event, socket, port } = JSON.parse(line)
        if (event === 'listen') ports.set(socket, port)
        if (ports.size === names.length) return
      }
    })()
    await Promise.race([listening, failed])
    failed.catch(() => {})
    urls = names.map((name) => `http://127.0.0.1:${ports.get(name)}`)
  }
  await start()
  return {
    get urls() {
      return urls
    },
    log: () => log,
    restart: () => end().then(start),
    stop: async () => {
      await end()
      await rm(home, { recursive: true })
    },
  }
}

/** An isolate is a service: none shares memory with another. */
function configOf(
  names: readonly string[],
  vars: Readonly<Record<string, string>>,
  objects: Readonly<Record<string, string>>,
  home: string,
): string {
  const quoted = JSON.stringify
  const services = names.map((name) => `(name = ${quoted(name)}, worker = .worker)`)
  const sockets = names.map(
    (name) =>
      `(name = ${quoted(name)}, address = "127.0.0.1:0", http = (), service = ${quoted(name)})`,
  )
  const bindings = [
    ...Object.entries(vars).map(
      ([name, text]) => `(name = ${quoted(name)}, text = ${quoted(text)})`,
    ),
    ...Object.entries(objects).map(
      ([name, className]) =>
        `(name = ${quoted(name)}, durableObjectNamespace = ${quoted(className)})`,
    ),
  ]
  const namespaces = Object.values(objects).map(
    (className) =>
      `(className = ${quoted(className)}, uniqueKey = ${quoted(className)}, enableSql = true)`,
  )
  const storage = `durableObjectNamespaces = [${namespaces}], durableObjectStorage = (localDisk = "disk"),`
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    ${services.join(', ')},
    (name = "internet", network = (allow = ["private", "local", "public"])),
    (name = "disk", disk = (path = ${quoted(home)}, writable = true)),
  ],
  sockets = [${sockets.join(', ')}],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "${COMPATIBILITY_DATE}",
  compatibilityFlags = ["nodejs_compat"],
  bindings = [${bindings.join(', ')}],
  ${namespaces.length > 0 ? storage : ''}
);
`
}
