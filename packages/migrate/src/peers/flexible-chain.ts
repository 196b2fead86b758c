import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { isParenthesized, wrapped } from '../bindings.ts'
import {
  type InlineFunction,
  isInlineFunction,
  methodCallOf,
  parameterName,
  usesOfParameter,
} from '../functions.ts'
import { statementsAt } from '../indent.ts'
import type { Source } from '../source.ts'
import {
  atFailureOf,
  type ConsumePlan,
  innerText,
  isTrivial,
  planResult,
  splitRejection,
  usesWithin,
} from './refusal-code.ts'

type Call = NodePath<t.CallExpression>

interface Chain {
  readonly outermost: Call
  readonly then: InlineFunction
  readonly rejected: InlineFunction
  /** `.then(a, b)`: what the first one throws does not reach the second. */
  readonly isPair: boolean
}

/**
 * `limiter.consume(key).then(…).catch(…)` as a statement of its own, or returned.
 *
 * @param consume the call as it will be
 * @returns undefined if the call is not in such a place, or the code does more
 */
export function planChain(source: Source, call: Call, consume: string): ConsumePlan | undefined {
  const chain = chainOf(call)
  if (chain === undefined || !hasPlainEnd(chain.outermost)) return undefined
  const { then, rejected, isPair } = chain
  const name = source.newName(call.node, 'decision')
  const body = rejected.get('body') as NodePath
  const split = body.isBlockStatement()
    ? splitRejection(body, parameterNameOf(rejected))
    : { refusal: [], error: undefined }
  const hasError = split.error !== undefined && split.error.length > 0
  if (!isPair && !hasError && !isTrivialFunction(then)) return undefined
  const all = usesOfParameter(rejected, 0)
  const within = body.isBlockStatement() ? usesWithin(all, split.refusal) : all
  const fields = planResult(source, within, name, true)
  const results = planResult(source, usesOfParameter(then, 0), name, false)
  if (fields === undefined || results === undefined) return undefined
  if ([rejected, then].some((fn) => fn.get('params')[0]?.isPattern())) return undefined
  return {
    atFailure: atFailureOf(split),
    apply() {
      fields()
      results()
      rewrite(source, call, chain, { consume, name, ...split })
    },
  }
}

interface Texts {
  readonly consume: string
  readonly name: string
  readonly refusal: readonly NodePath<t.Statement>[]
  readonly error: readonly NodePath<t.Statement>[] | undefined
}

function rewrite(source: Source, call: Call, chain: Chain, texts: Texts): void {
  const { outermost, then, rejected } = chain
  const { consume, name, refusal, error } = texts
  const { eol } = source
  const member = wrapped(call).parentPath as NodePath<t.MemberExpression>
  const behind = source.text.slice(call.node.end as number, member.node.property.start as number)
  const isWithin = isParenthesized(call.node) || wrapped(call) !== call
  const link = isWithin ? behind.replace(/^.*\)/s, '') : behind
  const indent = source.indentOf(member.node.property)
  const unit = '  '
  const isStatement = outermost.parentPath.isExpressionStatement()
  const end = source.original(outermost.parentPath.node).endsWith(';') ? ';' : ''
  const code = codeOf(source, rejected, refusal, `${indent}${unit}${unit}`, false, end)
  const goesOn = codeOf(source, then, undefined, indent + unit, !isStatement, end)
  const isAsync = then.node.async || rejected.node.async
  const lines = [
    `${consume}${link}then(${isAsync ? 'async ' : ''}(${name}) => {`,
    `${indent}${unit}if (!${name}.allowed) {`,
    ...(code.trim() === '' ? [] : [code]),
    ...(goesOn.trim() === '' || /^\s*(return|throw)\b/m.test(lastLine(code))
      ? []
      : [`${indent}${unit}${unit}return${end}`]),
    `${indent}${unit}}`,
    ...(goesOn.trim() === '' ? [] : [goesOn]),
    `${indent}})`,
  ]
  const failure = error?.length ? statementsAt(innerText(source, error), indent + unit) : ''
  const parameter = parameterNameOf(rejected) ?? ''
  const caught = failure && `${link}catch((${parameter}) => {${eol}${failure}${eol}${indent}})`
  source.replace(outermost.node, lines.join(eol) + (caught || handedOn(call, consume, link)))
}

/** A rejection that nothing handles would end the process: Express gets it. */
function handedOn(call: Call, consume: string, link: string): string {
  const isMiddleware = call.scope.getBinding('next')?.kind === 'param'
  return isMiddleware && !consume.startsWith('Promise.resolve(') ? `${link}catch(next)` : ''
}

/** @param statements some of its body; undefined: all of it. @param isReturned its result is used */
function codeOf(
  source: Source,
  fn: InlineFunction,
  statements: readonly NodePath<t.Statement>[] | undefined,
  indent: string,
  isReturned: boolean,
  end: string,
): string {
  const body = fn.get('body') as NodePath
  if (!body.isBlockStatement()) {
    return `${indent}${isReturned ? 'return ' : ''}${source.current(body.node)}${end}`
  }
  if (statements !== undefined && statements.length > 0) {
    return statementsAt(innerText(source, statements), indent)
  }
  const inner = source.edits.slice((body.node.start as number) + 1, (body.node.end as number) - 1)
  return inner.trim() === '' ? '' : statementsAt(inner, indent)
}

const lastLine = (code: string) => code.trimEnd().split('\n').at(-1) ?? ''

/** `.then(a).catch(b)`, `.then(a, b)`. */
function chainOf(call: Call): Chain | undefined {
  const first = methodCallOf(call)
  if (first?.name !== 'then') return undefined
  const [then, pair] = first.call.get('arguments') as NodePath[]
  if (!isInlineFunction(then)) return undefined
  if (isInlineFunction(pair)) return { outermost: first.call, then, rejected: pair, isPair: true }
  const last = methodCallOf(first.call)
  if (last?.name !== 'catch') return undefined
  const [rejected] = last.call.get('arguments') as NodePath[]
  if (!isInlineFunction(rejected)) return undefined
  return { outermost: last.call, then, rejected, isPair: false }
}

/** Whether nothing is done with the result but to return it. */
function hasPlainEnd({ parentPath }: NodePath): boolean {
  return (
    parentPath !== null &&
    (parentPath.isExpressionStatement() ||
      parentPath.isReturnStatement() ||
      parentPath.isArrowFunctionExpression())
  )
}

function isTrivialFunction(fn: InlineFunction): boolean {
  const body = fn.get('body') as NodePath
  if (body.isBlockStatement()) return body.get('body').every(isTrivial)
  return /^(await )?next\(\)$/.test(body.toString())
}

function parameterNameOf(fn: InlineFunction): string | undefined {
  const [param] = fn.get('params')
  return param && parameterName(param)
}
