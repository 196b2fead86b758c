import { SluiceError } from '@sluice/core'
import {
  checkInteger,
  checkKnown,
  checkObject,
  checkShare,
  conflict,
  OPTION_NAMES,
  OPTIONS,
  parseDuration,
  readOptions,
  UNKNOWN,
} from '@sluice/core/internal'
import { AddressedRequest, addressReader, CLIENT_GONE, keyReader } from '../keys/key-reader.ts'
import type { RequestAdapter } from '../request-adapter.ts'
import type { ClassTerms } from './admission.ts'
import type { ShedLoadOptions } from './shed-load-options.ts'

/** The most classes: each has its own time series in metrics. */
const MAX_CLASSES = 16
const DEFAULT_CLASSES = { default: {} }
const DEFAULT_QUEUE = { max: 200, maxWait: '1s' } as const

const TABLE = {
  ...OPTIONS.overload,
  key: OPTIONS.requestPolicy.key,
  user: OPTIONS.http.user,
  ipv6Prefix: OPTIONS.http.ipv6Prefix,
  skip: OPTIONS.http.skip,
  name: OPTIONS.events.name,
}

/**
 * The options of a load shedder, checked and with their defaults.
 *
 * @throws SluiceError for wrong options
 */
export function compileOverload<Request>(
  options: ShedLoadOptions<Request, string>,
  adapter: RequestAdapter<Request, never>,
) {
  checkObject('options', options, 'the options of shedLoad')
  checkKnown('', options, OPTION_NAMES.overload)
  const { ipv6Prefix, name } = readOptions(TABLE, '', options)
  const classes = compileClasses(options.classes ?? DEFAULT_CLASSES)
  if (classes.length > 1 && options.classOf === undefined)
    throw conflict('classOf', 'a function, with several classes', undefined, HOW_TO_CLASSIFY)
  if (options.classOf !== undefined && options.classes === undefined)
    throw conflict('classes', 'the classes, with classOf', undefined, HOW_TO_CLASSIFY)
  const readAddress = addressReader(options.trustProxy, adapter)
  const readKey = keyReader(options.key ?? 'ip', options.user, ipv6Prefix, adapter)
  return {
    name,
    skip: options.skip,
    classOf: options.classOf,
    classes,
    ...compileQueue(options.queue ?? DEFAULT_QUEUE),
    /** The key of a request, whose requests take turns with those of others. */
    keyOf(request: Request): string {
      try {
        const key = readKey(new AddressedRequest(request, readAddress, adapter))
        // Its type says that the function must not be async: the keys of all requests that wait are the same then.
        return typeof key === 'string' ? key : UNKNOWN
      } catch (error) {
        if (error === CLIENT_GONE) return UNKNOWN
        throw error
      }
    },
  }
}

const HOW_TO_CLASSIFY =
  "Give both: classOf: (request) => request.path.startsWith('/checkout') ? 'critical' : 'normal', and classes: { critical: {}, normal: {} }."

function compileClasses(given: object): readonly ClassTerms[] {
  const expected = `an object with 1 to ${MAX_CLASSES} classes, the most important first`
  const entries = Object.entries(checkObject('classes', given, expected))
  const fix = 'Write classes: { critical: { reserve: 0.3 }, normal: {}, batch: {} }.'
  const wrong = (received: unknown) =>
    new SluiceError({ code: 'SLUICE_OPTION_VALUE', option: 'classes', expected, received, fix })
  if (entries.length === 0 || entries.length > MAX_CLASSES) throw wrong(given)
  const classes = entries.map(([name, terms]): ClassTerms => {
    // An object has its whole numbers first, so their order would not be the one that was written.
    if (!/^(?!\d+$)[\x20-\x7e]{1,128}$/.test(name)) throw wrong(name)
    const path = `classes.${name}`
    checkKnown(path, checkObject(path, terms, 'an object: {} or { reserve: 0.3 }'), ['reserve'])
    return { name, reserve: checkShare(`${path}.reserve`, terms.reserve ?? 0) }
  })
  const reserved = classes.reduce((sum, { reserve }) => sum + reserve, 0)
  if (reserved > 1 + Number.EPSILON)
    throw conflict('classes', 'shares of which all together are at most 1', reserved, fix)
  return classes
}

function compileQueue(given: object): { maxWaiting: number; maxWaitMs: number } {
  checkKnown('queue', checkObject('queue', given, 'an object: { max, maxWait }'), [
    'max',
    'maxWait',
  ])
  const { max, maxWait } = { ...DEFAULT_QUEUE, ...given } as typeof DEFAULT_QUEUE
  return {
    maxWaiting: checkInteger('queue.max', max, 1, 100_000),
    maxWaitMs: parseDuration('queue.maxWait', maxWait, 1, 60_000),
  }
}
