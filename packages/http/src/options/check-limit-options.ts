import { SluiceError } from '@sluice/core'
import { checkObject } from '@sluice/core/internal'

const EXPECTED = 'the options of a rate limit'

/** All options of a rate limit have one of these. */
const REQUIRED = ['limit', 'policies', 'concurrent']

/**
 * @returns `options`, if they can be those of a rate limit
 * @throws SluiceError if they are something else: after `app.use(rateLimit)`, the framework calls `rateLimit`
 *   with a request
 */
export function checkLimitOptions(options: unknown): object {
  const given = checkObject('options', options, EXPECTED)
  if (isPlain(given) || REQUIRED.some((name) => name in given)) return given
  throw new SluiceError({
    code: 'SLUICE_OPTION_TYPE',
    option: 'options',
    expected: EXPECTED,
    received: options,
    fix: "Call rateLimit with its options and pass what it returns, not rateLimit itself: app.use(rateLimit({ limit: 100, window: '1m' })).",
  })
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
