import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { isParenthesized, unwrapped } from '../bindings.ts'
import { durationOf } from '../durations.ts'
import { methodCallOf } from '../functions.ts'
import type { Source } from '../source.ts'
import { planChain } from './flexible-chain.ts'
import { planTry } from './flexible-try.ts'
import type { ConsumePlan } from './refusal-code.ts'
import { isInsurance } from './uses-of-value.ts'

/** How to rewrite a use of a limiter, or why it can't be done. */
type Planned =
  | { readonly apply: () => void; readonly atFailure?: ConsumePlan['atFailure'] }
  | { readonly path: NodePath; readonly problem: string }

/** @param path the limiter. @param isSync it returns decisions, and no promises of them */
export function planUse(source: Source, path: NodePath, isSync: boolean): Planned {
  if (isInsurance(path)) return { apply: () => {} }
  const found = methodCallOf(path)
  if (found === undefined) {
    return { path, problem: 'pass the limiter on only to code that reads decision.allowed.' }
  }
  const { call, name } = found
  if (name === 'consume') return planConsume(source, call, isSync)
  const isSpread = call.node.arguments.some(({ type }) => type === 'SpreadElement')
  const text = isSpread ? undefined : otherCall(source, name, call)
  if (text === undefined) return { path: call, problem: advice(source, name, call) }
  return { apply: () => source.replace(call.node, text) }
}

function planConsume(source: Source, call: NodePath<t.CallExpression>, isSync: boolean): Planned {
  const made = consumeText(source, call)
  const promise = isSync ? `Promise.resolve(${made})` : `${made}`
  const planned =
    made === undefined
      ? undefined
      : (planTry(source, call, made) ?? planChain(source, call, promise))
  return planned ?? { path: call, problem: advice(source, 'consume', call) }
}

/** `limiter.consume(key, { cost })`. */
function consumeText(source: Source, call: NodePath<t.CallExpression>): string | undefined {
  const [key, points, ...others] = call.node.arguments
  const isKnown = [key, points].every((each) => each?.type !== 'SpreadElement')
  if (key === undefined || !isKnown || others.length > 0) return undefined
  const callee = source.original(call.node.callee)
  const text = keyText(source, call.get('arguments')[0] as NodePath)
  if (points === undefined || (points.type === 'NumericLiteral' && points.value === 1)) {
    return `${callee}(${text})`
  }
  return `${callee}(${text}, { cost: ${source.original(points)} })`
}

/** rate-limiter-flexible makes text of any key, also of a number and of undefined. */
function keyText(source: Source, path: NodePath): string {
  const text = source.original(path.node)
  return isText(path) ? text : `String(${text})`
}

/** Whether an expression is certain to be text. */
function isText(path: NodePath): boolean {
  const inner = unwrapped(path)
  if (inner.isStringLiteral() || inner.isTemplateLiteral()) return true
  if (inner.isBinaryExpression({ operator: '+' })) {
    return isText(inner.get('left') as NodePath) || isText(inner.get('right'))
  }
  if (inner.isCallExpression()) {
    return /^(String|.*\.(toString|toLowerCase|toUpperCase|trim|join|digest))$/s.test(
      inner.get('callee').toString(),
    )
  }
  if (inner.isLogicalExpression()) {
    const left = inner.get('left')
    return isText(inner.get('right')) && (isText(left) || isAddress(left))
  }
  if (!inner.isIdentifier()) return false
  const declared = inner.scope.getBinding(inner.node.name)?.path
  if (declared?.isVariableDeclarator()) {
    const init = declared.get('init') as NodePath
    return declared.node.id.type === 'Identifier' && init.node != null && isText(init)
  }
  const { typeAnnotation } = (declared?.node ?? {}) as t.Identifier
  return (
    typeAnnotation?.type === 'TSTypeAnnotation' &&
    typeAnnotation.typeAnnotation.type === 'TSStringKeyword'
  )
}

/** `request.ip`: text, or undefined */
function isAddress(path: NodePath): boolean {
  return /[.](ip|remoteAddress)$/.test(unwrapped(path).toString())
}

/** Returns a call that changes no flow of control. */
function otherCall(
  source: Source,
  name: string,
  call: NodePath<t.CallExpression>,
): string | undefined {
  const [key, second] = call.get('arguments') as NodePath[]
  if (key === undefined || !isResultUnused(call)) return undefined
  const { object } = call.node.callee as t.MemberExpression
  const limiter = isParenthesized(object) ? `(${source.original(object)})` : source.original(object)
  const text = keyText(source, key)
  const points = second === undefined ? '1' : source.original(second.node)
  if (name === 'penalty') return `${limiter}.settle(${text}, ${points})`
  if (name === 'reward') {
    return `${limiter}.settle(${text}, -${/^[\w.]+$/.test(points) ? points : `(${points})`})`
  }
  if (name === 'delete') return `${limiter}.reset(${text})`
  if (name !== 'block' || second === undefined) return undefined
  return `${limiter}.block(${text}, ${durationOf(source, second, 1000)})`
}

function isResultUnused(call: NodePath): boolean {
  const outer = call.parentPath?.isAwaitExpression() ? call.parentPath : call
  return outer.parentPath?.isExpressionStatement() ?? false
}

const INSTEAD: Readonly<Record<string, string>> = {
  get: 'peek(key) takes its place. It always returns a decision: for a new key one with all of the limit remaining; limit - remaining is what is used.',
  set: 'nothing takes its place: settle(key, points) charges more, reset(key) makes the quota whole.',
  penalty: 'settle(key, points) takes its place, and returns nothing; peek(key) reads the result.',
  reward: 'settle(key, -points) takes its place, and returns nothing; peek(key) reads the result.',
  block: 'block(key, duration) takes its place, with ms or text, and returns nothing.',
  delete: 'reset(key) takes its place, and returns nothing.',
}

function advice(source: Source, name: string, call: NodePath<t.CallExpression>): string {
  if (name !== 'consume') return `${name}: ${INSTEAD[name] ?? 'there is no such method here.'}`
  const text = consumeText(source, call) ?? 'limiter.consume(key, { cost })'
  const consumed = source.text.includes('consumedPoints')
    ? ' consumedPoints is decision.limit - decision.remaining, which never exceeds limit.'
    : ''
  return `write const decision = await ${text} and handle a refusal in if (!decision.allowed) { … }, with decision.retryAfterMs for msBeforeNext and decision.remaining for remainingPoints. It is not a rejection.${consumed}`
}
