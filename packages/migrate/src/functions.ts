import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { memberName, nameOf, readsOf, resolved, unwrapped, wrapped } from './bindings.ts'
import type { Source } from './source.ts'

/** A function in the place where it is used. */
export type InlineFunction = NodePath<
  t.ArrowFunctionExpression | t.FunctionExpression | t.ObjectMethod
>

export function isInlineFunction(path: NodePath | undefined): path is InlineFunction {
  return (
    path !== undefined &&
    (path.isArrowFunctionExpression() || path.isFunctionExpression() || path.isObjectMethod())
  )
}

/** Whether the body uses a parameter; one that is taken apart counts as used. */
export function usesParameter(fn: NodePath<t.Function>, i: number): boolean {
  const param = (fn.get('params') as NodePath[])[i]
  if (param === undefined) return false
  const name = parameterName(param)
  return name === undefined || fn.scope.getBinding(name)?.referenced === true
}

/** Whether the body uses parameters behind the first one. */
export function readsMore(fn: NodePath<t.Function>): boolean {
  return fn.node.params.some((_, i) => i > 0 && usesParameter(fn, i))
}

/** Undefined if it is taken apart. */
export function parameterName(param: NodePath): string | undefined {
  const inner = param.isAssignmentPattern() ? param.get('left') : param
  return inner.isIdentifier() ? inner.node.name : undefined
}

/** Where the body uses a parameter. */
export function usesOfParameter(fn: InlineFunction, i: number): readonly NodePath[] {
  const param = fn.get('params')[i]
  const name = param === undefined ? undefined : parameterName(param)
  return name === undefined ? [] : (fn.scope.getBinding(name)?.referencePaths ?? [])
}

export function parameterTexts(source: Source, fn: InlineFunction): string[] {
  return fn.get('params').map(({ node }) => source.original(node))
}

/** @param texts the parameters that take the place of all */
export function setParameters(source: Source, fn: InlineFunction, texts: readonly string[]): void {
  const { params, body, start } = fn.node
  const list = `(${texts.join(', ')})`
  const [first, last] = [params[0], params.at(-1)]
  if (first !== undefined && last !== undefined && isBare(source, fn)) {
    source.replace(first, list)
    return
  }
  const from = fn.isObjectMethod() ? (fn.node.key.end as number) : (start as number)
  const open = source.text.lastIndexOf('(', first?.start ?? openBefore(source, from, body))
  const close = source.text.indexOf(')', last?.end ?? open)
  source.edits.overwrite(open, close + 1, list)
}

/** Where the parenthesis of a function without parameters opens. */
function openBefore(source: Source, from: number, body: t.Node): number {
  const open = source.text.indexOf('(', from)
  return open < (body.start as number) ? open : from
}

/** `request => …`: a parameter without parentheses. */
function isBare(source: Source, fn: InlineFunction): boolean {
  const [param] = fn.node.params
  if (!fn.isArrowFunctionExpression() || fn.node.params.length !== 1 || param === undefined) {
    return false
  }
  return !/\($/.test(source.text.slice(fn.node.start as number, param.start as number).trim())
}

/** The function as an expression, with the edits inside it. */
export function functionText(source: Source, fn: InlineFunction): string {
  const text = source.current(fn.node)
  if (!fn.isObjectMethod()) return text
  const { key, async: isAsync } = fn.node
  return `${isAsync ? 'async ' : ''}function ${source.edits.slice(key.end as number, fn.node.end as number)}`
}

/**
 * Leaves a limiter that a function makes, perhaps again and again, while what keeps its counts is made once,
 * outside of it: here, each limiter has counts of its own.
 *
 * @param counts the value of the option of this name
 */
export function checkOnce(source: Source, counts: NodePath, limiter: NodePath, name: string): void {
  const functionOf = (path: NodePath) => path.getFunctionParent()?.node
  const inside = functionOf(limiter)
  if (inside === undefined || functionOf(resolved(counts)) === inside) return
  source.leave(
    `${name}: a function makes the limiter, and what keeps its counts is outside of it. Here, the counts are in the limiter: make it once, outside of the function.`,
  )
}

/** All that a function returns. */
export function resultsOf(fn: NodePath<t.Function>): NodePath[] {
  const body = fn.get('body') as NodePath
  if (!body.isBlockStatement()) return [body]
  const results: NodePath[] = []
  body.traverse({
    Function(inner) {
      inner.skip()
    },
    ReturnStatement(statement) {
      const argument = statement.get('argument') as NodePath
      if (argument.node) results.push(argument)
    },
  })
  return results
}

/** The result of a function that does nothing else. */
export function soleResult(fn: NodePath<t.Function>): NodePath | undefined {
  const body = fn.get('body') as NodePath
  if (!body.isBlockStatement()) return unwrapped(body)
  const [only, ...others] = body.get('body')
  if (!only?.isReturnStatement() || others.length > 0) return undefined
  const argument = only.get('argument') as NodePath
  return argument.node ? unwrapped(argument) : undefined
}

/** `request.rateLimit.used`: the member that is read of what a path is. */
export function memberOf(path: NodePath): FieldRead | undefined {
  const outer = wrapped(path)
  const { parentPath } = outer
  const isMember = parentPath?.isMemberExpression() || parentPath?.isOptionalMemberExpression()
  if (!isMember || outer.key !== 'object') return undefined
  const name = parentPath.isMemberExpression()
    ? memberName(parentPath)
    : nameOf(parentPath.node.property)
  return name === undefined ? undefined : { member: parentPath, name }
}

/** `limiter.consume(key)`: the call of a method of what a path is. */
export function methodCallOf(path: NodePath) {
  const { member, name } = memberOf(path) ?? {}
  const call = member?.parentPath
  return name && call?.isCallExpression() && member?.key === 'callee' ? { name, call } : undefined
}

const ARITHMETIC = ['-', '*', '/', '%', '**', '<', '>', '<=', '>=']

/** Whether an expression is an operand that has to be a number. */
export function isInArithmetic(path: NodePath): boolean {
  const { parent } = wrapped(path)
  if (parent.type === 'BinaryExpression') return ARITHMETIC.includes(parent.operator)
  return parent.type === 'UnaryExpression' && ['+', '-'].includes(parent.operator)
}

const COMPARISONS = ['==', '===', '!=', '!==', '<', '>', '<=', '>=']

/** Whether an expression, or the constant that it initializes, is compared with something. */
export function isCompared(path: NodePath): boolean {
  const isOperand = (each: NodePath) => {
    const { parent } = wrapped(each)
    return parent.type === 'BinaryExpression' && COMPARISONS.includes(parent.operator)
  }
  return isOperand(path) || readsOf(path).some(isOperand)
}

/** A field that is read: the expression, and the name. */
export interface FieldRead {
  readonly member: NodePath
  readonly name: string
}

/** The fields that a function reads of a parameter, which it may take apart; undefined: it is used in another way. */
export function readsOfParameter(fn: InlineFunction, i: number): (FieldRead | undefined)[] {
  const param = fn.get('params')[i]
  if (!param?.isObjectPattern()) return usesOfParameter(fn, i).map(memberOf)
  return param.get('properties').flatMap((property) => {
    const { key, value } = property.node as t.ObjectProperty
    const local = property.isObjectProperty() ? nameOf(value) : undefined
    const name = property.isObjectProperty() ? nameOf(key) : undefined
    if (local === undefined || name === undefined) return [undefined]
    return (fn.scope.getBinding(local)?.referencePaths ?? []).map((member) => ({ member, name }))
  })
}

/**
 * Plans to write other expressions in place of fields.
 *
 * @param expressions the expression for each field, by its name
 * @returns undefined if one has none, or the object is used in another way
 */
export function planFields(
  source: Source,
  reads: readonly (FieldRead | undefined)[],
  expressions: Readonly<Record<string, string>>,
): (() => void) | undefined {
  const edits = reads.map((read) => {
    const text = read && expressions[read.name]
    return read && text ? { path: read.member, text } : undefined
  })
  if (edits.includes(undefined)) return undefined
  return () => {
    for (const edit of edits) if (edit) replaceExpression(source, edit.path, edit.text)
  }
}

/** Writes another expression. A template in a template becomes a part of it. */
export function replaceExpression(
  source: Source,
  { node, parentPath }: NodePath,
  text: string,
): void {
  const [start, end] = [Number(node.start), Number(node.end)]
  const isInTemplate =
    source.text.slice(start - 2, start) === '${' && source.text.charAt(end) === '}'
  if (isInTemplate && text.startsWith('`')) {
    source.replace({ start: start - 2, end: end + 1 }, text.slice(1, -1))
    return
  }
  const isShorthand = parentPath?.isObjectProperty() && parentPath.node.shorthand
  source.replace(node, isShorthand ? `${source.original(node)}: ${text}` : text)
}
