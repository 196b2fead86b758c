import { checkBoolean, checkFunction, checkObject, typeError } from '../../options/checks.ts'
import { checkKnown } from '../../options/known.ts'
import { readOptions } from '../../options/read.ts'
import { OPTIONS } from '../../options/table.ts'
import type { InspectOptions } from '../store.ts'

/** Options of `inspect` that were checked. */
export interface Wanted extends InspectOptions {
  readonly prefix: string
  readonly onePerKeyspace: boolean
}

/**
 * Checks the options before anything is loaded that reads a store: few processes do.
 *
 * @throws SluiceError
 */
export function readInspectOptions(options: InspectOptions | undefined): Wanted {
  const given = checkObject('options', options ?? {}, 'the options of inspect') as InspectOptions
  checkKnown('', given, ['prefix', 'policy', 'key', 'onePerKeyspace', 'onProgress'])
  const { prefix } = readOptions(OPTIONS.store, '', { prefix: given.prefix })
  const { policy, key, onePerKeyspace = false, onProgress } = given
  checkBoolean('onePerKeyspace', onePerKeyspace)
  checkText('policy', policy)
  checkText('key', key)
  if (onProgress !== undefined) checkFunction('onProgress', onProgress, '(progress) => void')
  return { prefix, policy, key, onePerKeyspace, onProgress }
}

function checkText(option: string, value: unknown): void {
  if (value === undefined || (typeof value === 'string' && value !== '')) return
  const fix = `Leave ${option} out to list all.`
  throw typeError(option, value, 'text of at least one character', fix)
}
