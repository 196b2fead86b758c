import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { DIFFERENCES } from '../differences.ts'
import { durationOf } from '../durations.ts'
import { findOptions, type Owners } from '../find-options.ts'
import { addLog, constantOf, renameNumbers } from '../numbers.ts'
import { checkUnknown } from '../option-functions.ts'
import type { OptionsObject } from '../options-object.ts'
import { removeNew } from '../remove.ts'
import { type LeftCalls, Source } from '../source.ts'
import { checkClient } from './redis-client.ts'
import { isPrefix, prefixText } from './redis-store.ts'
import type { ConsumePlan } from './refusal-code.ts'

/** The defaults of rate-limiter-flexible. */
const DEFAULTS = [
  ['points', 'limit', '4'],
  ['duration', 'window', "'1s'"],
] as const
/** Options that are built in here, or are about the connection. */
const NOT_NEEDED = [
  'inMemoryBlockOnConsumed',
  'inMemoryBlockDuration',
  'inmemoryBlockOnConsumed',
  'inmemoryBlockDuration',
  'rejectIfRedisNotReady',
  'rejectIfValkeyNotReady',
  'useRedisPackage',
  'useRedis3AndLowerPackage',
  'storeType',
  'disableIndexesCreation',
]

/** The behaviour of a limiter's calls while its store fails; `works`: it can't fail, or that is not known. */
export type AtFailure = ConsumePlan['atFailure'] | 'works'

/**
 * `new RateLimiterRedis({ … })` becomes `createLimiter({ … })`. May leave the call that is being rewritten.
 *
 * @param owners all limiters of the file
 * @param atFailure what its calls do while its store fails
 */
export function migrateConstructor(
  source: Source,
  made: NodePath<t.NewExpression>,
  name: string,
  owners: Owners,
  atFailure: AtFailure = 'works',
): void {
  const [given, ...others] = made.get('arguments') as NodePath[]
  if (given === undefined) {
    source.replace(made.node, `${name}({ limit: 4, window: '1s', algorithm: 'sliding-log' })`)
    return
  }
  removeNew(source, made)
  source.replace(made.node.callee, name)
  const last = others.at(-1)
  if (last) source.edits.remove(given.node.end as number, last.node.end as number)
  for (const found of findOptions(source, given, owners, new Set())) {
    const { options, isWhole, mayHave } = found
    const hasInsurance = mayHave('insuranceLimiter')
    renameOptions(source, options)
    if (isWhole) {
      for (const [there, here, value] of DEFAULTS) if (!mayHave(there)) options.add([here, value])
      if (!hasInsurance && atFailure === 'refuses') options.add(['onStoreError', "'deny'"])
      if (!hasInsurance && atFailure !== 'works')
        source.note(made, DIFFERENCES.atFailure[atFailure])
      const isLog = addLog(source, found, ['points'], 4)
      source.note(made, DIFFERENCES.window('rate-limiter-flexible', isLog))
      source.note(made, DIFFERENCES.refusal)
    }
    options.finish()
  }
}

/** The text of `createLimiter` with these options, in one line; the file stays as it is. */
export function createLimiterText(source: Source, made: NodePath<t.NewExpression>): string {
  const left: LeftCalls = new Map()
  const scratch = new Source(source, left)
  const owners: Owners = new Set([made.node])
  scratch.migrate(made, () => migrateConstructor(scratch, made, 'createLimiter', owners))
  if (left.size > 0) return 'createLimiter({ limit, window })'
  return scratch
    .current(made.node)
    .replace(/\/\/[^\n]*/g, '')
    .replace(/\s+/g, ' ')
    .replace(/, \}/g, ' }')
}

function renameOptions(source: Source, options: OptionsObject): void {
  const duration = options.value('duration')
  const window = duration && durationOf(source, duration, 1000)
  renameNumbers(source, options, 'duration', ['points'], 1000)
  if (constantOf(duration) === 0) {
    source.note(
      options.path,
      'duration: 0 never ends there. Here every window has an end, of ten years at most.',
    )
    options.rename('duration', "'10y'")
  }
  if (!isPrefix(options.value('keyPrefix'))) {
    source.leave('keyPrefix: prefix has letters, digits and . _ : - alone.')
  }
  renamePrefix(source, options)
  options.rename('storeClient')
  renameBlock(source, options, window ?? "'1s'")
  if (options.has('insuranceLimiter')) {
    options.remove('insuranceLimiter')
    source.note(options.path, DIFFERENCES.insurance)
  }
  const even = options.value('execEvenly')
  if (even !== undefined && !even.isBooleanLiteral({ value: false })) {
    source.leave(
      "execEvenly: consume waits there. Here algorithm: 'leaky-bucket' returns decision.delayMs, and only an adapter waits.",
    )
  }
  if (options.has('customIncrTtlLuaScript')) {
    source.leave(
      'customIncrTtlLuaScript: the script of Sluice decides about all policies, and has no part to replace.',
    )
  }
  options.remove('execEvenly', 'execEvenlyMinDelayMs', ...NOT_NEEDED)
  checkUnknown(source, options)
}

function renamePrefix(source: Source, options: OptionsObject): void {
  const given = options.value('keyPrefix')
  if (!options.has('storeClient')) {
    options.rename('keyPrefix')
    return
  }
  checkClient(source, options.value('storeClient'))
  const numbers = ['points', 'duration'].map((name) => options.value(name))
  const prefix = prefixText(source, given, numbers)
  if (given === undefined) {
    source.note(options.path, DIFFERENCES.sharedPrefix)
    options.add(['prefix', prefix])
  } else options.rename('keyPrefix', prefix)
}

function renameBlock(source: Source, options: OptionsObject, window: string): void {
  const block = options.value('blockDuration')
  if (block === undefined) return
  if (block.isNumericLiteral({ value: 0 })) options.remove('blockDuration')
  else {
    const duration = durationOf(source, block, 1000)
    options.rename('blockDuration', `{ after: 1, within: ${window}, for: [${duration}] }`)
  }
}
