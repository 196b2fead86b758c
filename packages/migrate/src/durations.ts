import type { NodePath } from '@babel/traverse'
import { parseDuration } from '@sluice/core/store'
import { importedFrom } from './bindings.ts'
import type { Source } from './source.ts'

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const

/** `'15m'`: in the longest unit that divides it. @param ms an integer */
export function durationText(ms: number): string {
  const [unit, length] = UNITS.find(([, length]) => ms % length === 0) ?? ['ms', 1]
  return `'${ms / length}${unit}'`
}

/**
 * A duration as Sluice takes it. Arithmetic of constants becomes text, everything else stays an
 * expression, in ms.
 *
 * @param unitMs what a number counts there: 1, or 1000 for seconds
 */
export function durationOf(source: Source, path: NodePath, unitMs: 1 | 1000): string {
  const text = source.current(path.node)
  if (path.isStringLiteral() || path.isFunction()) return text
  const called = calledDuration(source, path)
  if (called !== undefined) return called
  const ms = millisecondsOf(path, unitMs)
  const isNamed = path.isIdentifier() || path.isMemberExpression()
  if (ms !== undefined && !(isNamed && unitMs === 1)) return durationText(ms)
  return unitMs === 1 ? text : timesText(source, path, unitMs)
}

/** The ms of a duration as a number or as text; undefined if it is none. */
export function durationMs(duration: string | number): number | undefined {
  try {
    return parseDuration('window', duration)
  } catch {
    return undefined
  }
}

/** The ms of an expression of constants that is a valid duration; otherwise undefined. */
export function millisecondsOf(path: NodePath, unitMs = 1): number | undefined {
  const { confident, value } = path.evaluate()
  if (!confident || typeof value !== 'number') return undefined
  return durationMs(value * unitMs)
}

const HELPERS: Readonly<Record<string, number>> = {
  seconds: 1000,
  minutes: 60_000,
  hours: 3_600_000,
  days: 86_400_000,
  weeks: 604_800_000,
}

/** How many ms the helper of @nestjs/throttler of this name multiplies by. */
export function helperMs(name: string): number | undefined {
  return HELPERS[name]
}

/** The duration that `ms('15m')` of the package ms means, or `minutes(n)` of @nestjs/throttler. */
function calledDuration(source: Source, path: NodePath): string | undefined {
  if (!path.isCallExpression()) return undefined
  const [argument] = path.get('arguments')
  const callee = path.get('callee')
  if (argument === undefined) return undefined
  if (argument.isStringLiteral() && importedFrom(callee, 'ms') !== undefined) {
    return `'${argument.node.value}'`
  }
  const unit = HELPERS[importedFrom(callee, '@nestjs/throttler') ?? '']
  if (unit === undefined) return undefined
  const ms = millisecondsOf(argument as NodePath, unit)
  return ms ? durationText(ms) : timesText(source, argument as NodePath, unit)
}

function timesText(source: Source, path: NodePath, unitMs: number): string {
  const text = source.current(path.node)
  const isSimple = path.isIdentifier() || path.isMemberExpression() || path.isCallExpression()
  return `${isSimple ? text : `(${text})`} * ${unitMs}`
}
