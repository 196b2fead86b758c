import { type Algorithm, type AlgorithmParams, MAX_LIMIT } from '../algorithms/algorithm.ts'
import { conflict } from '../errors/conflict.ts'
import { SluiceError } from '../errors/sluice-error.ts'
import { ALGORITHM_OPTIONS, algorithmsWith } from '../options/algorithm-options.ts'
import { pathTo } from '../options/known.ts'

/** The longest that a token bucket takes to refill, ms. */
const MAX_REFILL_MS = 1e15

/**
 * Checks the options that not every algorithm has: those of others have no meaning, so that they must be a mistake.
 *
 * @param path where the options are, for messages: `policies[0]`, or ''
 * @param algorithm the one that counts
 * @throws SluiceError
 */
export function checkAlgorithm(path: string, options: object, algorithm: Algorithm): void {
  const { name, keepsLog, options: own } = algorithm
  const given = options as Readonly<Record<string, unknown>>
  if (given.algorithm !== undefined && given.algorithm !== name)
    throw conflict(
      pathTo(path, 'algorithm'),
      "'fixed-window', which windows of the calendar are",
      given.algorithm,
      "Remove algorithm, or write the window as a duration such as '1d'.",
    )
  const foreign = ALGORITHM_OPTIONS.find((each) => given[each] !== undefined && !(each in own))
  if (foreign !== undefined) {
    const option = pathTo(path, foreign)
    const wanted = `algorithm: '${algorithmsWith(foreign)[0]}'`
    throw conflict(option, `${wanted} with it`, name, `Remove ${option}, or choose ${wanted}.`)
  }
  if (given.reserve === true && (keepsLog || own.maxDelay !== undefined)) {
    const option = pathTo(path, 'reserve')
    throw conflict(
      option,
      'a fixed window, a sliding window or a token bucket with it',
      name,
      `Remove ${option}, or choose another algorithm.`,
    )
  }
}

/**
 * Keeps queues and refill times within exact integers.
 * @throws SluiceError
 */
export function checkProportions(
  path: string,
  { limit, windowMs, burst = 0, maxDelayMs = 0 }: AlgorithmParams,
): void {
  if (limit === 0) return
  if ((burst / limit) * windowMs > MAX_REFILL_MS)
    throw new SluiceError({
      code: 'SLUICE_OPTION_RANGE',
      option: pathTo(path, 'burst'),
      expected: 'a burst that refills within 10^15 ms',
      received: burst,
      fix: 'Lower burst, or raise limit.',
    })
  if ((maxDelayMs / windowMs) * limit >= MAX_LIMIT)
    throw new SluiceError({
      code: 'SLUICE_OPTION_RANGE',
      option: pathTo(path, 'maxDelay'),
      expected: `a delay in which fewer than ${MAX_LIMIT} units drain`,
      received: maxDelayMs,
      fix: 'Lower maxDelay, or limit.',
    })
}
