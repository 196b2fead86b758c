import { SluiceError } from '../errors/sluice-error.ts'
import { checkObject } from '../options/checks.ts'
import { OPTIONS } from '../options/table.ts'

/** @returns units. @throws SluiceError if it is not an integer in the range of `cost` */
export function checkCost(cost: unknown): number {
  return OPTIONS.requestPolicy.cost.type.check('cost', cost)
}

const TERMS = ['limit', 'window', 'anchor']
const PEEK = ['address', ...TERMS]
const CONSUME = ['cost', ...PEEK]
/** The options that calls take. */
export const TAKEN = {
  peek: PEEK,
  consume: CONSUME,
  wait: [...CONSUME, 'maxWait', 'signal', 'priority'],
  settle: ['at', 'source', 'remaining', ...TERMS],
  block: ['window', 'network'],
}

/**
 * Refuses what would be ignored: units in place of options, and a misspelt name.
 *
 * @throws SluiceError if the options of a call are not an object, or the call does not take one of them
 */
export function checkTaken(options: object | undefined, taken: readonly string[]): void {
  if (options === undefined) return
  for (const option in checkObject('options', options, '{ cost: 5 }')) {
    if (taken.includes(option)) continue
    throw new SluiceError({
      code: 'SLUICE_OPTION_UNKNOWN',
      option,
      expected: `one of the options ${taken.join(', ')}`,
      received: (options as Record<string, unknown>)[option],
      fix: 'Remove it or correct its name.',
    })
  }
}

/** @throws SluiceError if it is not text */
export function checkKey(key: unknown): string {
  if (typeof key === 'string' && key !== '') return key
  throw new SluiceError({
    code: 'SLUICE_KEY',
    option: 'key',
    expected: 'text of at least one character that identifies a client',
    received: key,
    fix: 'Pass the text that identifies the client. Without it, all clients would share one quota.',
  })
}
