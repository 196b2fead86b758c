import { readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import type { createBudget } from '@sluice/budget'
import type { createLimiter, redisStore, StoreError, WaitError } from '@sluice/core'
import type { FetchReply, fetchExchange, RoutedLimiter } from '@sluice/http/adapter'
import type { LoadShedder } from '@sluice/http/overload'
import type { Borrower, joinTransactions, transactionalStore } from '@sluice/transactional'
import { build, type Plugin } from 'esbuild'
import type { readReply } from '../../core/src/stores/redis/reply.ts'
import type { Machine } from './machine.ts'

const PACKAGES = join(import.meta.dirname, '../..')

/** What a simulated process needs of core. */
export interface Core {
  readonly RoutedLimiter: typeof RoutedLimiter
  readonly FetchReply: typeof FetchReply
  readonly fetchExchange: typeof fetchExchange
  readonly createBudget: typeof createBudget
  readonly createLimiter: typeof createLimiter
  readonly LoadShedder: typeof LoadShedder
  readonly transactionalStore: typeof transactionalStore
  readonly joinTransactions: typeof joinTransactions
  readonly Borrower: typeof Borrower
  readonly redisStore: typeof redisStore
  readonly readReply: typeof readReply
  readonly StoreError: typeof StoreError
  readonly WaitError: typeof WaitError
}

/** Core's modules for a process, which has them alone: what they remember, they remember for one process. */
export type LoadCore = (machine: Machine) => Core

/** Text of core's sources that is replaced while they are loaded. */
export interface Replacement {
  /** A path in `packages`. */
  readonly file: string
  /** Is there exactly once. */
  readonly text: string
  readonly by: string
}

const ENTRY = `
export { fetchExchange } from './http/src/fetch/fetch-exchange.ts'
export { FetchReply } from './http/src/fetch/fetch-reply.ts'
export { RoutedLimiter } from './http/src/path/routed-limiter.ts'
export { createBudget } from './budget/src/budget.ts'
export { createLimiter } from './core/src/limiter/create-limiter.ts'
export { LoadShedder } from './http/src/overload/load-shedder.ts'
export { StoreError } from './core/src/errors/store-error.ts'
export { WaitError } from './core/src/errors/wait-error.ts'
export { redisStore } from './core/src/stores/redis/redis-store.ts'
export { readReply } from './core/src/stores/redis/reply.ts'
export { Borrower, joinTransactions, transactionalStore } from './transactional/src/index.ts'`

/** The web's platform has no module of Node; what needs time or chance is the machine's. */
const PLATFORM = `
export * from './core/src/platform/web.ts'
export const afterTurn = (act) => host.machine.afterTurn(act)
export const afterAsking = afterTurn
export const inBackground = (act, ms) => host.machine.inBackground(act, ms)
export const random32 = () => host.machine.random32()
export const emitWarning = () => {}
export const timersEndWithRequest = false`

/** Replaced texts of a file, each with what takes its place. */
type Replaced = readonly (readonly [text: string, by: string])[]

/**
 * What differs in the files of core. What a module remembers belongs to a process: it is forgotten before the next one.
 * All else that modules keep belongs to one store. Caps are low, so that a simulated minute reaches them; what they cap
 * says how much it holds.
 */
const CHANGES: {
  readonly [file: string]: { readonly forget?: string; readonly replaced?: Replaced }
} = {
  'core/src/errors/warning.ts': { forget: 'given.clear()' },
  'core/src/limiter/held-slots.ts': { forget: 'lastSlot = undefined' },
  'core/src/limiter/live/live-policies.ts': { forget: 'warned.clear()' },
  'http/src/overload/load-shedder.ts': { forget: 'runtime.random = host.machine.random' },
  'core/src/stores/calls/breaker.ts': { forget: 'stores = 0' },
  'core/src/stores/redis/ledger-scripts.ts': { forget: 'scripts.clear(); fixedCount = 0' },
  'core/src/stores/documents/in-time.ts': {
    forget: 'answers = new Deadline(5000)',
    replaced: [['const answers = ', 'let answers = ']],
  },
  'core/src/stores/calls/store-calls.ts': {
    replaced: [
      ['const MAX_ACTIVE = 1000', 'const MAX_ACTIVE = 4'],
      ['const MAX_WAITING = 10_000', 'const MAX_WAITING = 4'],
      [
        '    this.#active += 1\n',
        "    this.#active += 1\n    host.machine.holds('calls in progress', this.#active, MAX_ACTIVE)\n",
      ],
      [
        'this.#waiting.add(call)\n',
        "host.machine.holds('calls that wait', this.#waiting.add(call).size, MAX_WAITING)\n",
      ],
      [
        "new Error('too many calls wait for the store')",
        "host.machine.overloaded(new Error('too many calls wait for the store'))",
      ],
    ],
  },
  'core/src/stores/resilient/refusals.ts': {
    replaced: [
      ['const MAX_KEYS = 10_000', 'const MAX_KEYS = 2'],
      [
        'this.refusals.set(copied(id), refusal)\n',
        "host.machine.holds('refusals', this.refusals.set(copied(id), refusal).size, MAX_KEYS)\n",
      ],
    ],
  },
  'core/src/limiter/leases/lease-ledger.ts': {
    replaced: [
      ['const MAX_LEASES = 1000', 'const MAX_LEASES = 2'],
      ['const MAX_KEYS = 10_000', 'const MAX_KEYS = 4'],
      ['    key.isTaking = true\n', '    key.isTaking = true\n    host.machine.ahead.add(ahead)\n'],
      [
        '    this.#leased.add(key)\n',
        "    host.machine.holds('leases', this.#leased.add(key).size, MAX_LEASES)\n",
      ],
    ],
  },
  'core/src/limiter/waiting/places.ts': {
    replaced: [
      [
        'this.#takenBy.set(client, own + 1)\n',
        `this.#takenBy.set(client, own + 1)
      host.machine.holds('calls in line', this.taken, this.#most)
      host.machine.holds('calls of a client in line', own + 1, this.#most - this.taken + 1)\n`,
      ],
    ],
  },
}

/** Globals of core by what stands for them in a process. */
const GLOBALS = {
  'Date.now': 'host.machine.now',
  'performance.now': 'host.machine.uptime',
  'Math.random': 'host.machine.random',
  setTimeout: 'host.machine.setTimeout',
  setInterval: 'host.machine.setInterval',
  clearTimeout: 'host.machine.clearTimeout',
  clearInterval: 'host.machine.clearTimeout',
}

/** Globals that would lead out of the simulation: undefined there. */
const HIDDEN = ['process', 'setImmediate', 'queueMicrotask', 'crypto']

/**
 * Compiles core from its sources, so that each process has its own: its modules with their state, its clocks
 * and its timers. No global of Node is replaced.
 *
 * @throws Error if a text to be replaced is not there exactly once
 */
export async function compileCore(replacements: readonly Replacement[] = []): Promise<Cores> {
  const { outputFiles } = await build({
    stdin: { contents: ENTRY, resolveDir: PACKAGES, loader: 'ts' },
    bundle: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'core',
    target: 'es2022',
    write: false,
    define: GLOBALS,
    plugins: [platform, replacing(replacements)],
    logLevel: 'silent',
  })
  const code = outputFiles[0]?.text as string
  return new Cores(new Function('host', ...HIDDEN, `${code}\nreturn core`) as (host: Host) => Core)
}

/** Where core's modules run. */
interface Host {
  machine: Machine
  readonly forget: (() => void)[]
}

/** Core's modules, as often as a simulation has processes. Code that has run for a while runs faster. */
export class Cores {
  readonly #start: (host: Host) => Core
  readonly #started: { readonly host: Host; readonly core: Core }[] = []

  /** @param start runs the modules anew */
  constructor(start: (host: Host) => Core) {
    this.#start = start
  }

  /** For the processes of one simulation: those of the one before must have ended. */
  begin(): LoadCore {
    let used = 0
    return (machine) => {
      const known = this.#started[used]
      used += 1
      if (known !== undefined) {
        known.host.machine = machine
        for (const forget of known.host.forget) forget()
        return known.core
      }
      const host: Host = { machine, forget: [] }
      const core = this.#start(host)
      this.#started.push({ host, core })
      return core
    }
  }
}

const platform: Plugin = {
  name: 'platform',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^#platform$/ }, () => ({ path: 'machine', namespace: 'platform' }))
    onLoad({ filter: /./, namespace: 'platform' }, () => {
      return { contents: PLATFORM, resolveDir: PACKAGES, loader: 'ts' }
    })
  },
}

function replacing(replacements: readonly Replacement[]): Plugin {
  return {
    name: 'replacing',
    setup({ onLoad, onEnd }) {
      const missing = new Set(replacements)
      onLoad({ filter: /packages\/(core|http|transactional|budget)\/src\/.*\.ts$/ }, ({ path }) => {
        const file = relative(PACKAGES, path).split(sep).join('/')
        const own = replacements.filter((each) => each.file === file)
        for (const each of own) missing.delete(each)
        const { forget, replaced = [] } = CHANGES[file] ?? {}
        let contents = readFileSync(path, 'utf8')
        if (forget !== undefined) contents += `\nhost.forget.push(() => { ${forget} })`
        for (const [text, by] of [...own.map(({ text, by }) => [text, by] as const), ...replaced]) {
          const parts = contents.split(text)
          if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${text}`)
          contents = parts.join(by)
        }
        return { contents, loader: 'ts' }
      })
      onEnd(() => {
        for (const { file } of missing) throw new Error(`nothing imports ${file}`)
      })
    },
  }
}
