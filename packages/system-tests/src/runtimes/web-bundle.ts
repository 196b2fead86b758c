import { createContext, Script } from 'node:vm'
import { packedPackages } from '@sluice/test-harness/packed'
import { build } from 'esbuild'

/** Globals that Node has and the web does not: a bundle that uses one of these would have its marker. */
const NODES = ['Buffer', 'process', 'global', 'setImmediate', 'clearImmediate', '__dirname']
export const MARKER = 'GLOBAL_OF_NODE_'

export interface Bundle {
  readonly code: string
  /** Modules that are not in it. */
  readonly imports: readonly string[]
}

/** Bundles a module for the web, as tools do for pages and workers. Its exports are in `bundled`. */
export async function bundleForWeb(source: string, conditions: string[]): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: source, resolveDir: import.meta.dirname, loader: 'ts' },
    bundle: true,
    platform: 'browser',
    conditions,
    format: 'iife',
    globalName: 'bundled',
    target: 'es2022',
    write: false,
    metafile: true,
    outfile: 'bundle.js',
    define: Object.fromEntries(NODES.map((name) => [name, MARKER + name])),
    logLevel: 'silent',
    plugins: [packedPackages],
  })
  const [output] = Object.values(metafile.outputs)
  return { code: outputFiles[0]!.text, imports: output!.imports.map(({ path }) => path) }
}

/** Globals that every runtime of the Fetch standard has, besides the language's. */
const SHARED = {
  ...{ AbortController, AbortSignal, Blob, Event, EventTarget, Headers, Request, Response },
  ...{ ReadableStream, TransformStream, WritableStream, TextDecoder, TextEncoder },
  ...{ URL, URLSearchParams, atob, btoa, performance, queueMicrotask, structuredClone },
}

/** A runtime without Node: a context with the globals of a worker alone, where text is no code. */
export class BareWorker {
  readonly warnings: unknown[][] = []
  readonly #context: object
  readonly #timers: NodeJS.Timeout[] = []
  #isServing = false

  constructor() {
    const inRequests = <T extends unknown[], R>(act: (...given: T) => R) => {
      return (...given: T): R => {
        // As in Cloudflare's Workers.
        if (!this.#isServing) throw new Error('not allowed before the first request')
        return act(...given)
      }
    }
    const timers = {
      setTimeout: inRequests((act: () => void, ms?: number) => this.#kept(setTimeout(act, ms))),
      setInterval: inRequests((act: () => void, ms: number) => this.#kept(setInterval(act, ms))),
      clearTimeout: (timer: number) => clearTimeout(timer),
      clearInterval: (timer: number) => clearInterval(timer),
    }
    const getRandomValues = inRequests((words: Uint32Array<ArrayBuffer>) =>
      crypto.getRandomValues(words),
    )
    const console = { warn: (...words: unknown[]) => void this.warnings.push(words) }
    const globals = { ...SHARED, ...timers, console, crypto: { getRandomValues } }
    this.#context = createContext(globals, { codeGeneration: { strings: false, wasm: false } })
  }

  /** The modules of the application run, and make their limiters. No request has come yet. */
  load<T>({ code }: Bundle): T {
    return new Script(`${code}; bundled`).runInContext(this.#context) as T
  }

  serve(): void {
    this.#isServing = true
  }

  /** Timers end with the request in which they were set, as in Cloudflare's Workers. */
  dropTimers(): void {
    for (const timer of this.#timers.splice(0)) clearTimeout(timer)
  }

  stop(): void {
    this.dropTimers()
  }

  /** A number, as on the web. */
  #kept(timer: NodeJS.Timeout): number {
    this.#timers.push(timer)
    return Number(timer)
  }
}
