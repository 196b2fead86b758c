import type { Platform, Timer } from './platform.ts'
import { hmacSha256, sha1, sha256 } from './web/hash.ts'

export { inspect } from './web/inspect.ts'

export const hash: Platform['hash'] = (algorithm, text, from, to) => {
  const bytes = from === 'utf8' ? utf8(text) : utf16le(text)
  return encode((algorithm === 'sha1' ? sha1 : sha256)(bytes), to)
}

export const hmac: Platform['hmac'] = (secret, text) => hmacSha256(utf8(secret), utf8(text))

export const encode: Platform['encode'] = (bytes, to) => {
  if (to === 'hex') return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  const base64 = btoa(String.fromCharCode(...bytes))
  if (to === 'base64') return base64
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

const encoder = new TextEncoder()
const utf8 = (text: string) => encoder.encode(text)

function utf16le(text: string): Uint8Array {
  const units = new DataView(new ArrayBuffer(2 * text.length))
  for (let i = 0; i < text.length; i += 1) units.setUint16(2 * i, text.charCodeAt(i), true)
  return new Uint8Array(units.buffer)
}

export const byteLength: Platform['byteLength'] = (text) => utf8(text).length

export const random32: Platform['random32'] = () =>
  crypto.getRandomValues(new Uint32Array(1))[0] as number

export const emitWarning: Platform['emitWarning'] = (message, code) =>
  console.warn(`[${code}] SluiceWarning: ${message}`)

/** The methods that Node's servers read: a server of the Fetch standard need not know more. */
export const methods: Platform['methods'] = () => [
  ...['ACL', 'BIND', 'CHECKOUT', 'CONNECT', 'COPY', 'DELETE', 'GET', 'HEAD', 'LINK', 'LOCK'],
  ...['M-SEARCH', 'MERGE', 'MKACTIVITY', 'MKCALENDAR', 'MKCOL', 'MOVE', 'NOTIFY', 'OPTIONS'],
  ...['PATCH', 'POST', 'PROPFIND', 'PROPPATCH', 'PURGE', 'PUT', 'QUERY', 'REBIND', 'REPORT'],
  ...['SEARCH', 'SOURCE', 'SUBSCRIBE', 'TRACE', 'UNBIND', 'UNLINK', 'UNLOCK', 'UNSUBSCRIBE'],
]

export const beforeHead: Platform['beforeHead'] = () => {
  throw new Error('This was bundled for the web. Bundle adapters of Node for the platform node.')
}

// The web has no channels that nobody had to pass on: nobody listens.
export const channel: Platform['channel'] = () => ({ hasSubscribers: false, publish() {} })
export const tracingChannel: Platform['tracingChannel'] = () => ({
  hasSubscribers: false,
  traceSync: (act) => act(),
  tracePromise: (act) => act(),
})

export const heapShare: Platform['heapShare'] = () => 0
export const loopTimes: Platform['loopTimes'] = () => ({ active: 0, idle: 0 })

export const afterTurn: Platform['afterTurn'] = (act) => void setTimeout(act, 0)

export const afterAsking: Platform['afterAsking'] = (act) => queueMicrotask(act)

/** The clock is read each time: to see the end of a turn takes longer. */
export const isCalledAfterTurn: Platform['isCalledAfterTurn'] = () => false

export const inBackground: Platform['inBackground'] = (act, ms) => {
  const timer = unref(setTimeout(act, ms))
  return () => clearTimeout(timer)
}

/** True, since timers end with their request in Cloudflare's Workers. */
export const timersEndWithRequest: Platform['timersEndWithRequest'] = true

export const sleep: Platform['sleep'] = (ms) =>
  new Promise((resolve) => {
    setTimeout(resolve, ms)
  })

/** Timers of the web are numbers, and keep nothing alive. A bundle for the web may run on Node too. */
export const unref: Platform['unref'] = (timer) => {
  ;(timer as Partial<Timer>).unref?.()
  return timer
}

export const ref: Platform['ref'] = (timer) => {
  ;(timer as Partial<Timer>).ref?.()
  return timer
}
