import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { DIFFERENCES } from '../differences.ts'
import { durationOf } from '../durations.ts'
import { type Rewriting, rewriteOptions, rewritingOf } from '../find-options.ts'
import { Imports } from '../imports.ts'
import { addDefaults, constantOf, defaultsText, renameNumbers } from '../numbers.ts'
import { checkUnknown, renameBlock } from '../option-functions.ts'
import type { OptionsObject } from '../options-object.ts'
import { removeNew } from '../remove.ts'
import { type LeftCalls, Source } from '../source.ts'
import { checkClient } from './redis-client.ts'
import { prefixText, validPrefix } from './redis-store.ts'
import type { ConsumePlan } from './refusal-code.ts'

const NUMBERS = {
  window: 'duration',
  windowMs: 1000,
  unitMs: 1000,
  limits: ['points'],
  limit: 4,
} as const
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
 * @param atFailure what its calls do while its store fails
 */
export function migrateConstructor(
  rewriting: Rewriting,
  made: NodePath<t.NewExpression>,
  name: string,
  atFailure: AtFailure = 'works',
): void {
  const { source } = rewriting
  const [given, ...others] = made.get('arguments') as NodePath[]
  if (given === undefined) {
    source.replace(made.node, `${name}(${defaultsText(NUMBERS)})`)
    return
  }
  removeNew(source, made)
  source.replace(made.node.callee, name)
  const last = others.at(-1)
  if (last) source.edits.remove(given.node.end as number, last.node.end as number)
  const rewrite = (options: OptionsObject) => {
    const { isWhole, mayHave } = options
    const hasInsurance = mayHave('insuranceLimiter')
    renameOptions(options)
    if (!isWhole) return
    if (!hasInsurance && atFailure !== 'works') {
      if (atFailure !== 'handles') options.add(['onStoreError', "'deny'"])
      source.note(made, DIFFERENCES.atFailure[atFailure])
    }
    const isLog = addDefaults(options, NUMBERS)
    source.note(made, DIFFERENCES.window('rate-limiter-flexible', isLog))
    source.note(made, DIFFERENCES.refusal)
  }
  rewriteOptions(rewriting, given, rewrite, 'LimiterOptions')
}

/** The text of `createLimiter` with these options, in one line; the file stays as it is. */
export function createLimiterText(
  { source, from }: Imports,
  made: NodePath<t.NewExpression>,
): string {
  const left: LeftCalls = new Map()
  const scratch = new Source(source, left)
  const rewriting = rewritingOf(new Imports(scratch, from, '@sluice/core'), [made])
  scratch.migrate(made, () => migrateConstructor(rewriting, made, 'createLimiter'))
  if (left.size > 0) return 'createLimiter({ limit, window })'
  return scratch
    .current(made.node)
    .replace(/\/\/[^\n]*/g, '')
    .replace(/\s+/g, ' ')
    .replace(/, \}/g, ' }')
}

function renameOptions(options: OptionsObject): void {
  const duration = options.value('duration')
  const window = duration && durationOf(options.source, duration, 1000)
  renameNumbers(options, NUMBERS)
  if (constantOf(duration) === 0) {
    options.note(
      'duration: 0 never ends there. Here every window has an end, of ten years at most.',
    )
    options.rename('duration', "'10y'")
  }
  renamePrefix(options)
  options.rename('storeClient')
  renameBlock(options, 1000, window ?? "'1s'")
  if (options.has('insuranceLimiter')) {
    options.remove('insuranceLimiter')
    options.note(DIFFERENCES.insurance)
  }
  if (options.has('execEvenly') && !options.is('execEvenly', false)) {
    options.leave(
      "execEvenly: consume waits there. Here algorithm: 'leaky-bucket' returns decision.delayMs, and only an adapter waits.",
    )
  }
  if (options.has('customIncrTtlLuaScript')) {
    options.leave(
      'customIncrTtlLuaScript: the script of Sluice decides about all policies, and has no part to replace.',
    )
  }
  options.remove('execEvenly', 'execEvenlyMinDelayMs', ...NOT_NEEDED)
  checkUnknown(options)
}

function renamePrefix(options: OptionsObject): void {
  const { source, isWhole, mayHave } = options
  const own = options.value('keyPrefix')
  if (own !== undefined) options.rename('keyPrefix', validPrefix(source, own))
  if (options.has('storeClient')) checkClient(source, options.value('storeClient'))
  if (!isWhole || !mayHave('storeClient')) return
  const numbers = ['points', 'duration'].map((name) => options.value(name))
  const prefix = prefixText(source, own ?? options.soleValue('keyPrefix'), numbers)
  if (mayHave('keyPrefix')) return
  options.note(DIFFERENCES.sharedPrefix)
  options.add(['prefix', prefix])
}
