import { AsyncResource } from 'node:async_hooks'
import type { ServerResponse } from 'node:http'
import { clearImmediate, clearTimeout, setImmediate, setTimeout } from 'node:timers'
import onHeaders from 'on-headers'
import type { Platform } from './platform.ts'

/**
 * A module of Node that is loaded when it is first used, or that an `import` would load whole, with what its
 * getters load: crypto, http and util together take as long as all of core.
 */
const builtin = process.getBuiltinModule

const diagnostics = builtin('node:diagnostics_channel')

export const hash: Platform['hash'] = (algorithm, text, from, to) =>
  builtin('node:crypto').createHash(algorithm).update(text, from).digest(to)

export const hmac: Platform['hmac'] = (secret, text) =>
  builtin('node:crypto').createHmac('sha256', secret).update(text).digest()

export const encode: Platform['encode'] = ({ buffer, byteOffset, byteLength }, to) =>
  Buffer.from(buffer, byteOffset, byteLength).toString(to)

export const byteLength: Platform['byteLength'] = (text) => Buffer.byteLength(text)

export const random32: Platform['random32'] = () => builtin('node:crypto').randomInt(2 ** 32)

export const inspect: Platform['inspect'] = (value, maxStringLength) =>
  builtin('node:util').inspect(value, { depth: 0, breakLength: Infinity, maxStringLength })

/** Emits a warning of the Node process. */
export const emitWarning: Platform['emitWarning'] = (message, code) =>
  process.emitWarning(message, { type: 'SluiceWarning', code })

export const methods: Platform['methods'] = () => builtin('node:http').METHODS

export const beforeHead: Platform['beforeHead'] = (response, callback) =>
  onHeaders(response as ServerResponse, callback)

export const channel: Platform['channel'] = diagnostics.channel
export const tracingChannel: Platform['tracingChannel'] = diagnostics.tracingChannel

export const heapShare: Platform['heapShare'] = () => {
  // Deno and Bun may leave fields out.
  const { used_heap_size: used = 0, heap_size_limit: limit = 0 } =
    builtin('node:v8').getHeapStatistics()
  return limit > 0 ? used / limit : 0
}

const NO_TIMES = { active: 0, idle: 0 }

export const loopTimes: Platform['loopTimes'] = () =>
  // Not every runtime that has Node's modules has this.
  (performance as Partial<PerformanceOfNode>).eventLoopUtilization?.() ?? NO_TIMES

type PerformanceOfNode = typeof import('node:perf_hooks')['performance']

export const afterTurn: Platform['afterTurn'] = (act) => void setImmediate(act)

let asking: (() => void)[] = []

/** All are called in one go: a client that joins commands of one moment into a call joins theirs. */
export const afterAsking: Platform['afterAsking'] = (act) => {
  if (asking.push(act) === 1) setImmediate(askAll)
}

function askAll(): void {
  const acts = asking
  asking = []
  for (const act of acts) act()
}

export const isCalledAfterTurn: Platform['isCalledAfterTurn'] = (act) => {
  const immediate = setImmediate(act).unref()
  if (immediate.constructor.name === 'Immediate') return true
  clearImmediate(immediate)
  return false
}

class Background extends AsyncResource {
  /** Says to tools that look for open handles that this is none. */
  hasRef(): boolean {
    return false
  }
}

/** Timers are set from here, since a timer keeps the request in which it was set alive. */
const outside = new Background('SluiceBackground')

export const inBackground: Platform['inBackground'] = (act, ms) =>
  outside.runInAsyncScope(() => {
    const timer = setTimeout(act, ms).unref()
    return () => clearTimeout(timer)
  })

export const timersEndWithRequest: Platform['timersEndWithRequest'] = false

export const sleep: Platform['sleep'] = (ms) =>
  new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
export const unref: Platform['unref'] = (timer) => timer.unref()
export const ref: Platform['ref'] = (timer) => timer.ref()
