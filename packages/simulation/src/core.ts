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
export const emitWarning = (message, code) => host.machine.emitWarning(message, code)
export const timersEndWithRequest = false`

/** What modules of core remember, and what makes them new. All else that they keep belongs to one store. */
const REMEMBERED: { readonly [file: string]: string } = {
  'core/src/errors/warning.ts': 'given.clear()',
  'core/src/limiter/held-slots.ts': 'lastSlot = undefined',
  'core/src/limiter/live/live-policies.ts': 'warned.clear()',
  'http/src/overload/load-shedder.ts': 'runtime.random = host.machine.random',
  'core/src/stores/calls/breaker.ts': 'stores = 0',
  'core/src/stores/redis/ledger-scripts.ts': 'scripts.clear(); fixedCount = 0',
  'core/src/stores/documents/in-time.ts': 'answers = new Deadline(5000)',
}

/** Caps are low, so that a simulated minute reaches them; what they cap says how much it holds. */
const CAPS: readonly Replacement[] = [
  {
    // Its calls and its timer belong to a process.
    file: 'core/src/stores/documents/in-time.ts',
    text: 'const answers = ',
    by: 'let answers = ',
  },
  {
    file: 'core/src/stores/calls/store-calls.ts',
    text: 'const MAX_ACTIVE = 1000',
    by: 'const MAX_ACTIVE = 4',
  },
  {
    file: 'core/src/stores/calls/store-calls.ts',
    text: 'const MAX_WAITING = 10_000',
    by: 'const MAX_WAITING = 4',
  },
  {
    file: 'core/src/stores/calls/store-calls.ts',
    text: '    this.#active += 1\n',
    by: "    this.#active += 1\n    host.machine.holds('calls in progress', this.#active, MAX_ACTIVE)\n",
  },
  {
    file: 'core/src/stores/calls/store-calls.ts',
    text: 'this.#waiting.push(call)\n',
    by: "host.machine.holds('calls that wait', this.#waiting.push(call) - this.#next, MAX_WAITING)\n",
  },
  {
    file: 'core/src/stores/calls/store-calls.ts',
    text: "new Error('too many calls wait for the store')",
    by: "host.machine.overloaded(new Error('too many calls wait for the store'))",
  },
  {
    file: 'core/src/stores/resilient/refusals.ts',
    text: 'const MAX_KEYS = 10_000',
    by: 'const MAX_KEYS = 2',
  },
  {
    file: 'core/src/stores/resilient/refusals.ts',
    text: 'this.refusals.set(copied(id), refusal)\n',
    by: "host.machine.holds('refusals', this.refusals.set(copied(id), refusal).size, MAX_KEYS)\n",
  },
  {
    file: 'core/src/limiter/leases/lease-ledger.ts',
    text: 'const MAX_LEASES = 1000',
    by: 'const MAX_LEASES = 2',
  },
  {
    file: 'core/src/limiter/leases/lease-ledger.ts',
    text: '    key.isTaking = true\n',
    by: '    key.isTaking = true\n    host.machine.ahead.add(ahead)\n',
  },
  {
    file: 'core/src/limiter/leases/lease-ledger.ts',
    text: 'const MAX_KEYS = 10_000',
    by: 'const MAX_KEYS = 4',
  },
  {
    file: 'core/src/limiter/leases/lease-ledger.ts',
    text: '    this.#leased.add(key)\n',
    by: "    host.machine.holds('leases', this.#leased.add(key).size, MAX_LEASES)\n",
  },
  {
    file: 'core/src/limiter/waiting/wait-queues.ts',
    text: 'this.#counts.set(client, (this.#counts.get(client) ?? 0) + 1)\n',
    by: `this.#counts.set(client, (this.#counts.get(client) ?? 0) + 1)
      const taken = this.#taken
      host.machine.holds('calls in line', taken, this.#most)
      host.machine.holds('calls of a client in line', this.#counts.get(client), this.#most - taken + 1)\n`,
  },
]

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
        const own = [...replacements, ...CAPS].filter((each) => each.file === file)
        const forget = REMEMBERED[file]
        if (own.length === 0 && forget === undefined) return undefined
        let contents = readFileSync(path, 'utf8')
        if (forget !== undefined) contents += `\nhost.forget.push(() => { ${forget} })`
        for (const each of own) {
          contents = replaceOnce(each, contents)
          missing.delete(each)
        }
        return { contents, loader: 'ts' }
      })
      onEnd(() => {
        for (const { file } of missing) throw new Error(`nothing imports ${file}`)
      })
    },
  }
}

/** @throws Error if the text is not there exactly once */
function replaceOnce({ file, text, by }: Replacement, source: string): string {
  const parts = source.split(text)
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${text}`)
  return parts.join(by)
}
