import type { NodePath } from '@babel/traverse'
import { DIFFERENCES } from '../differences.ts'
import { isInlineFunction, soleResult } from '../functions.ts'
import { call } from '../option-functions.ts'
import type { OptionsObject } from '../options-object.ts'
import type { Source } from '../source.ts'

/** The parameters of a framework's functions. */
interface Functions {
  /** The names of the parameters. */
  readonly given: readonly string[]
  /** How `settle` begins that asks what the other limiter asks by default. */
  readonly usual: string
}

const COUNTS = [
  ['skipSuccessfulRequests', '0 : 1'],
  ['skipFailedRequests', '1 : 0'],
] as const

/** A request that does not count there, by `requestWasSuccessful`, is settled here. */
export function renameSettle(options: OptionsObject, functions: Functions): void {
  const own = options.value('requestWasSuccessful')
  const [first, second] = COUNTS.filter(([name]) => options.has(name) && !options.is(name, false))
  options.remove('skipFailedRequests', 'skipSuccessfulRequests', 'requestWasSuccessful')
  if (first === undefined) return
  const [name, costs] = first
  if (second !== undefined) {
    options.leave('skipSuccessfulRequests and skipFailedRequests: with both, nothing is counted.')
  }
  if (!options.is(name, true)) {
    options.leave(`${name}: settle takes its place. Whether it is set is not seen here.`)
  }
  options.replace(name, ['settle', settleText(options.source, own, costs, functions)])
  options.note(DIFFERENCES.settle)
}

/** @param own it may be async, unless it can be seen that it is not */
function settleText(
  source: Source,
  own: NodePath | undefined,
  costs: string,
  { given, usual }: Functions,
): string {
  if (own === undefined) return `${usual} ${costs})`
  const test = call(source, own, given)
  const list = given.join(', ')
  const isSync = isInlineFunction(own) && !own.node.async && isBoolean(soleResult(own))
  return isSync
    ? `(${list}) => (${test} ? ${costs})`
    : `async (${list}) => ((await ${test}) ? ${costs})`
}

/** An expression that is no promise. */
function isBoolean(path: NodePath | undefined): boolean {
  return path?.isBinaryExpression() === true || path?.isUnaryExpression() === true
}
