import { SluiceError } from '../errors/sluice-error.ts'
import { OPTIONS } from '../options/table.ts'

/** @returns units. @throws SluiceError if it is not an integer in the range of `cost` */
export function checkCost(cost: unknown): number {
  return OPTIONS.requestPolicy.cost.type.check('cost', cost)
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
