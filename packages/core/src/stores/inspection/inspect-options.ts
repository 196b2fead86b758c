import { SluiceError } from '../../errors/sluice-error.ts'
import { checkBoolean, checkFunction, checkObject } from '../../options/checks.ts'
import { checkKnown } from '../../options/known.ts'
import { readOptions } from '../../options/read.ts'
import { OPTIONS } from '../../options/table.ts'
import type { InspectOptions } from '../store.ts'
import type { InspectedKeyspace } from './inspected-keyspace.ts'
import { isScope } from './scope.ts'

/** The options of `inspect`, checked. */
export interface Inspection {
  readonly prefix: string
  readonly key: string | undefined
  readonly onePerKeyspace: boolean
  /** Whether a keyspace is wanted. */
  wants(keyspace: InspectedKeyspace): boolean
  /** Whether a namespace is that of the limiters: of the first or a further one, or of one of their routes. */
  isIn(prefix: string): boolean
  /** Says how far the reading is: see `InspectProgress`. @param looked keys of this step */
  progress(looked: number, unreadable: readonly string[]): void
}

/** @throws SluiceError */
export function readInspectOptions(options: InspectOptions | undefined): Inspection {
  const given = checkObject('options', options ?? {}, 'the options of inspect') as InspectOptions
  checkKnown('', given, ['prefix', 'policy', 'key', 'onePerKeyspace', 'onProgress'])
  const { prefix } = readOptions(OPTIONS.store, '', { prefix: given.prefix })
  const { policy, key, onePerKeyspace = false, onProgress } = given
  checkBoolean('onePerKeyspace', onePerKeyspace)
  checkText('policy', policy)
  checkText('key', key)
  if (onProgress !== undefined) checkFunction('onProgress', onProgress, '(progress) => void')
  let all = 0
  return {
    prefix,
    key,
    onePerKeyspace,
    wants: (keyspace) => policy === undefined || keyspace.policy === policy,
    isIn: (other) => other.startsWith(prefix) && isScope(other.slice(prefix.length)),
    progress(looked, unreadable) {
      all += looked
      onProgress?.({ looked: all, unreadable })
    },
  }
}

function checkText(option: string, value: unknown): void {
  if (value === undefined || (typeof value === 'string' && value !== '')) return
  throw new SluiceError({
    code: 'SLUICE_OPTION_TYPE',
    option,
    expected: 'text of at least one character',
    received: value,
    fix: `Leave ${option} out to list all.`,
  })
}
