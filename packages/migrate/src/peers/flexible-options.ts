import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { resolved } from '../bindings.ts'
import { DIFFERENCES } from '../differences.ts'
import { durationOf } from '../durations.ts'
import { findOptions } from '../find-options.ts'
import type { OptionsObject } from '../options-object.ts'
import { removeNew } from '../remove.ts'
import { Source } from '../source.ts'

/** What its absence means there. */
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
  'useRedisPackage',
  'useRedis3AndLowerPackage',
  'storeType',
  'disableIndexesCreation',
]

/** `new RateLimiterRedis({ … })` becomes `createLimiter({ … })`. */
export function migrateConstructor(
  source: Source,
  made: NodePath<t.NewExpression>,
  name: string,
): void {
  const [given, ...others] = made.get('arguments') as NodePath[]
  if (given === undefined) {
    source.replace(made.node, `${name}({ limit: 4, window: '1s' })`)
    return
  }
  removeNew(source, made)
  source.replace(made.node.callee, name)
  const last = others.at(-1)
  if (last) source.edits.remove(given.node.end as number, last.node.end as number)
  for (const { options, isWhole, mayHave } of findOptions(source, given, new Set())) {
    renameOptions(source, options)
    if (isWhole) {
      for (const [there, here, value] of DEFAULTS) if (!mayHave(there)) options.add([here, value])
    }
    options.finish()
  }
}

/** The text of `createLimiter` with these options, in one line; the file stays as it is. */
export function createLimiterText(source: Source, made: NodePath<t.NewExpression>): string {
  const scratch = new Source(source.text, source.name)
  let text = 'createLimiter({ limit, window })'
  scratch.program.traverse({
    NewExpression(path) {
      if (path.node.start !== made.node.start) return
      migrateConstructor(scratch, path, 'createLimiter')
      text = scratch.current(path.node)
    },
  })
  return text
    .replace(/\/\/[^\n]*/g, '')
    .replace(/\s+/g, ' ')
    .replace(/, \}/g, ' }')
}

function renameOptions(source: Source, options: OptionsObject): void {
  const duration = options.value('duration')
  const window = duration && durationOf(source, duration, 1000)
  options.rename('points')
  if (duration !== undefined && resolved(duration).isNumericLiteral({ value: 0 })) {
    source.note(
      options.path,
      'duration: 0 never ends there. Here every window has an end, of ten years at most.',
    )
    options.rename('duration', "'10y'")
  } else options.rename('duration', window)
  options.rename('keyPrefix')
  options.rename('storeClient')
  renameBlock(source, options, window ?? "'1s'")
  if (options.has('insuranceLimiter')) {
    options.remove('insuranceLimiter')
    source.note(options.path, DIFFERENCES.insurance)
  }
  if (options.value('execEvenly')?.isBooleanLiteral({ value: true })) {
    options.rename('execEvenly', "'leaky-bucket'")
    source.note(
      options.path,
      'execEvenly: decision.delayMs is how long the caller has to wait. An adapter waits itself.',
    )
  } else options.remove('execEvenly')
  options.remove('execEvenlyMinDelayMs', ...NOT_NEEDED)
  for (const name of options.unknown)
    source.note(options.path, `${name}: there is no such option here.`)
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
