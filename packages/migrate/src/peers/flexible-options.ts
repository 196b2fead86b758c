import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { DIFFERENCES } from '../differences.ts'
import { durationOf } from '../durations.ts'
import { type FoundOptions, findOptions, type Owners, typeConstant } from '../find-options.ts'
import { Imports } from '../imports.ts'
import { addLog, constantOf, renameNumbers } from '../numbers.ts'
import { checkUnknown } from '../option-functions.ts'
import type { OptionsObject } from '../options-object.ts'
import { removeNew } from '../remove.ts'
import { type LeftCalls, Source } from '../source.ts'
import { checkClient } from './redis-client.ts'
import { prefixText, validPrefix } from './redis-store.ts'
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
 * @param owners the limiters of the file that are rewritten
 * @param atFailure what its calls do while its store fails
 */
export function migrateConstructor(
  imports: Imports,
  made: NodePath<t.NewExpression>,
  name: string,
  owners: Owners,
  seen: Set<t.Node>,
  atFailure: AtFailure = 'works',
): void {
  const { source } = imports
  const [given, ...others] = made.get('arguments') as NodePath[]
  if (given === undefined) {
    source.replace(made.node, `${name}({ limit: 4, window: '1s', algorithm: 'sliding-log' })`)
    return
  }
  removeNew(source, made)
  source.replace(made.node.callee, name)
  const last = others.at(-1)
  if (last) source.edits.remove(given.node.end as number, last.node.end as number)
  for (const found of findOptions(source, given, owners, seen)) {
    const { options, isWhole, mayHave } = found
    const hasInsurance = mayHave('insuranceLimiter')
    renameOptions(source, found)
    if (isWhole) {
      for (const [there, here, value] of DEFAULTS) if (!mayHave(there)) options.add([here, value])
      if (!hasInsurance && ['refuses', 'fails'].includes(atFailure)) {
        options.add(['onStoreError', "'deny'"])
      }
      if (!hasInsurance && atFailure !== 'works')
        source.note(made, DIFFERENCES.atFailure[atFailure])
      const isLog = addLog(source, found, ['points'], 4)
      source.note(made, DIFFERENCES.window('rate-limiter-flexible', isLog))
      source.note(made, DIFFERENCES.refusal)
    }
    options.finish()
    typeConstant(imports, found, 'LimiterOptions')
  }
}

/** The text of `createLimiter` with these options, in one line; the file stays as it is. */
export function createLimiterText(
  { source, from }: Imports,
  made: NodePath<t.NewExpression>,
): string {
  const left: LeftCalls = new Map()
  const scratch = new Source(source, left)
  const owners: Owners = new Set([made.node])
  const imports = new Imports(scratch, from, '@sluice/core')
  scratch.migrate(made, () => migrateConstructor(imports, made, 'createLimiter', owners, new Set()))
  if (left.size > 0) return 'createLimiter({ limit, window })'
  return scratch
    .current(made.node)
    .replace(/\/\/[^\n]*/g, '')
    .replace(/\s+/g, ' ')
    .replace(/, \}/g, ' }')
}

function renameOptions(source: Source, found: FoundOptions): void {
  const { options } = found
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
  renamePrefix(source, found)
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

function renamePrefix(
  source: Source,
  { options, isWhole, mayHave, soleValue }: FoundOptions,
): void {
  const own = options.value('keyPrefix')
  if (own !== undefined) options.rename('keyPrefix', validPrefix(source, own))
  if (options.has('storeClient')) checkClient(source, options.value('storeClient'))
  if (!isWhole || !mayHave('storeClient')) return
  const numbers = ['points', 'duration'].map((name) => options.value(name))
  const prefix = prefixText(source, own ?? soleValue('keyPrefix'), numbers)
  if (mayHave('keyPrefix')) return
  source.note(options.path, DIFFERENCES.sharedPrefix)
  options.add(['prefix', prefix])
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
