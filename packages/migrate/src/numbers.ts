import type { NodePath } from '@babel/traverse'
import { memberName, resolved, unwrapped } from './bindings.ts'
import { durationMs, durationOf, durationText } from './durations.ts'
import { renameFunction } from './option-functions.ts'
import type { OptionsObject } from './options-object.ts'
import { isTypeScript, type Source } from './source.ts'

/** The largest limit for which a log is written: it keeps an entry for each admitted request. */
const LONGEST_LOG = 1000

export const LOG = ['algorithm', "'sliding-log'"] as const

const NUMBERS =
  'limit and window have to be numbers, or a duration as text. Otherwise the limiter throws when it is made.'

const TYPE =
  'window: TypeScript does not take a string as a duration. If this is one, write as never behind it: the limiter checks it when it is made.'

const UNITS =
  'window: text has a unit here, such as 60000ms. A number without a unit throws when the limiter is made.'

/** The type of an expression, as far as it can be seen. */
type Kind = 'number' | 'text' | 'nothing' | 'unknown'

const ARITHMETIC = ['-', '*', '/', '%', '**']
const CONVERSIONS = /^(Number|parseInt|parseFloat|Number\.parse(Int|Float)|Math\.\w+)$/

/**
 * A limit or a duration as source code. Text becomes a number, which the other limiters do too.
 *
 * @param text the expression as it is written here
 * @param readsText whether the other limiter reads text as Sluice does, such as `'1 minute'`: it stays text
 * @param unset what the other limiter takes where a variable of the environment is not set
 */
export function numberText(
  source: Source,
  path: NodePath,
  text: string,
  readsText = false,
  unset?: number,
): string {
  const kind = kindOf(path)
  if (kind === 'nothing') source.leave('limit and window are required, and may be undefined here.')
  if (kind === 'text') {
    const isBare = unset !== undefined && isVariable(path)
    if (readsText) {
      const given = isBare ? `${text} ?? ${durationText(unset)}` : text
      if (!readsEnvironment(path)) return given
      source.note(path, UNITS)
      // Text that is made at run time has the type string, which is no duration. The limiter checks it.
      return isTypeScript(source) ? `(${given}) as never` : given
    }
    return isBare ? `Number(${text} ?? ${unset})` : `Number(${text})`
  }
  const isTyped = isTypeScript(source) && !path.isCallExpression()
  if (kind === 'unknown' && !isTyped) source.note(path, NUMBERS)
  if (kind === 'unknown' && isTyped && readsText) source.note(path, TYPE)
  return text
}

/** Whether an expression may be text. */
export function mayBeText(path: NodePath): boolean {
  return kindOf(path) === 'text'
}

function kindOf(path: NodePath): Kind {
  const inner = resolved(path)
  if (inner.isIdentifier({ name: 'undefined' }) || inner.isNullLiteral()) return 'nothing'
  const { confident, value } = inner.evaluate()
  if (confident && typeof value === 'number') return 'number'
  if (inner.isStringLiteral() || inner.isTemplateLiteral()) return 'text'
  if (inner.isUnaryExpression() || inner.isFunction()) return 'number'
  if (inner.isBinaryExpression()) {
    const isNumber = ARITHMETIC.includes(inner.node.operator)
    return isNumber ? 'number' : either(inner.get('left') as NodePath, inner.get('right'))
  }
  const [one, other] = branchesOf(inner)
  if (one !== undefined && other !== undefined) return either(one, other)
  if (inner.isMemberExpression()) return isEnvironment(inner.get('object')) ? 'text' : 'unknown'
  if (inner.isCallExpression()) {
    return CONVERSIONS.test(inner.get('callee').toString()) ? 'number' : 'unknown'
  }
  return 'unknown'
}

function either(one: NodePath, other: NodePath): Kind {
  const kinds = [kindOf(one), kindOf(other)]
  if (kinds.includes('nothing')) return 'nothing'
  if (kinds.includes('text')) return 'text'
  return kinds.includes('unknown') ? 'unknown' : 'number'
}

function readsEnvironment(path: NodePath): boolean {
  const inner = resolved(path)
  return isVariable(inner) || branchesOf(inner).some(readsEnvironment)
}

/** `process.env.LIMIT` alone */
function isVariable(path: NodePath): boolean {
  const inner = unwrapped(path)
  return inner.isMemberExpression() && isEnvironment(inner.get('object'))
}

/** `process.env` */
function isEnvironment(path: NodePath): boolean {
  const inner = unwrapped(path)
  return (
    inner.isMemberExpression() &&
    memberName(inner) === 'env' &&
    inner.get('object').isIdentifier({ name: 'process' })
  )
}

/** The option of another limiter that says its window. */
interface WindowOption {
  readonly window: string
  /** What it takes without the option, ms. */
  readonly windowMs?: number
  /** What a number counts, ms. Default: 1. */
  readonly unitMs?: 1 | 1000
  /** Whether it reads text as Sluice does, such as `'1 minute'`. */
  readonly readsText?: true
}

/** The options of another limiter that say its limit, and what it takes without them. */
export interface Numbers extends WindowOption {
  readonly windowMs: number
  /** The names of the limit, of which one is given. */
  readonly limits: readonly string[]
  readonly limit: number
}

/** Renames the options of a limit. A duration of constants becomes text, as `'15m'`. */
export function renameNumbers(options: OptionsObject, numbers: Numbers): void {
  renameWindow(options, numbers)
  renameLimit(options, numbers.limits, numbers.limit)
}

export function renameWindow(
  options: OptionsObject,
  { window, unitMs = 1, readsText, windowMs }: WindowOption,
): void {
  const { source } = options
  const length = options.value(window)
  if (length === undefined) return
  checkWindow(source, length, window, unitMs)
  const text = durationOf(source, length, unitMs)
  const isText = text.startsWith("'") || length.isStringLiteral()
  // What is multiplied is a number, also if the variable is not set.
  const unset = unitMs === 1 ? windowMs : undefined
  options.rename(window, isText ? text : numberText(source, length, text, readsText, unset))
}

export function renameLimit(
  options: OptionsObject,
  limits: readonly string[],
  unset?: number,
): void {
  const { source } = options
  const [name, other] = limits.filter((each) => options.has(each))
  if (other !== undefined) options.leave(`${limits.join(', ')}: only one of them says the limit.`)
  const value = name === undefined ? undefined : options.value(name)
  if (name === undefined || value === undefined) return
  checkLimit(source, value, name)
  renameFunction(options, name)
  const text = source.original(value.node)
  const number = value.isFunction() ? text : numberText(source, value, text, false, unset)
  if (number !== text) options.rename(name, number)
}

/** Leaves the call if a constant is no limit here: a limiter that throws when it is made helps nobody. */
function checkLimit(source: Source, value: NodePath, name: string): void {
  const inner = resolved(value)
  const branches = branchesOf(inner)
  if (branches.length > 0) {
    for (const each of branches) checkLimit(source, each, name)
    return
  }
  const constant = constantOf(inner)
  if (constant === undefined || (Number.isSafeInteger(constant) && constant >= 0)) return
  source.leave(
    `${name}: limit is an integer from 0. ${constant} is none; for no limit, exempt the requests with skip.`,
  )
}

/** The values that `test ? one : other` and `one ?? other` can have; none for another expression. */
function branchesOf(path: NodePath): readonly NodePath[] {
  if (path.isConditionalExpression()) return [path.get('consequent'), path.get('alternate')]
  return path.isLogicalExpression() ? [path.get('left'), path.get('right')] : []
}

/** Leaves the call if a constant is no window here. */
function checkWindow(source: Source, value: NodePath, name: string, unitMs: number): void {
  const constant = constantOf(value)
  const isNone =
    constant !== undefined && constant !== 0 && durationMs(constant * unitMs) === undefined
  if (isNone)
    source.leave(`${name}: window is an integer of ms, from 1 on. ${constant * unitMs} is none.`)
}

/** The number that an expression of constants is. */
export function constantOf(path: NodePath | undefined): number | undefined {
  if (path === undefined) return undefined
  const { confident, value } = unwrapped(path).evaluate()
  return confident && typeof value === 'number' ? value : undefined
}

/** Adds the defaults of the other limiter, where its options are missing, and the algorithm. @returns see `addLog` */
export function addDefaults(options: OptionsObject, numbers: Numbers): boolean {
  const { mayHave } = options
  if (!mayHave(numbers.window)) options.add(['window', durationText(numbers.windowMs)])
  if (!numbers.limits.some(mayHave)) options.add(['limit', `${numbers.limit}`])
  return addLog(options, numbers)
}

/**
 * Adds the algorithm that behaves most like a window that begins with a client's first request.
 *
 * @returns whether it is added
 */
export function addLog(options: OptionsObject, { limits, limit }: Numbers): boolean {
  const { source } = options
  const given = limits.filter((name) => options.mayHave(name))
  const [name] = given
  const value = name === undefined ? undefined : options.soleValue(name)
  const isLog = name === undefined ? isShort(limit) : given.length === 1 && takesLog(source, value)
  if (isLog) options.add(LOG)
  return isLog
}

/** The options that say what another limiter takes without any. */
export function defaultsText({ limit, windowMs }: Numbers, headers = ''): string {
  const fields = headers && `, headers: ${headers}`
  return `{ limit: ${limit}, window: ${durationText(windowMs)}, ${LOG.join(': ')}${fields} }`
}

/** Whether a log is written for a limit. A function may return more than a log can hold. */
export function takesLog(source: Source, path: NodePath | undefined): boolean {
  if (path === undefined || resolved(path).isFunction()) return false
  const constant = constantOf(path)
  if (constant === undefined) source.noteCall(LONG)
  return constant === undefined || isShort(constant)
}

const LONG =
  "algorithm: 'sliding-log' takes limits up to 10,000, and keeps an entry for each admitted request. Without it, the window is an estimate, which admits more where one window ends."

/** Whether a log is written for a constant limit. */
export function isShort(limit: number): boolean {
  return limit >= 1 && limit <= LONGEST_LOG
}
