import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { resolved, unwrapped } from '../bindings.ts'
import { ofRateLimitInfo } from '../decision-fields.ts'
import { DIFFERENCES } from '../differences.ts'
import {
  type InlineFunction,
  isCompared,
  isInArithmetic,
  isInlineFunction,
  memberOf,
  parameterTexts,
  setParameters,
  usesOfParameter,
  usesParameter,
} from '../functions.ts'
import { call } from '../option-functions.ts'
import type { OptionsObject } from '../options-object.ts'
import type { Source } from '../source.ts'
import { DEFAULT_MESSAGE, renameResponse, STATUSES } from './respond.ts'

/** The defaults of options that a handler reads. */
const DEFAULTS: Readonly<Record<string, string>> = { statusCode: '429', message: DEFAULT_MESSAGE }

/** `handler`, `message` and `statusCode` of express-rate-limit become `respond`. */
export function renameResponses(options: OptionsObject): void {
  const { source } = options
  renameResponse(options, {
    ofHandler: (handler) => handlerText(options, handler),
    ofMessage: (message, code) => sender(source, message, `response${statusText(code)}.send`),
    ofStatus: (code) =>
      `(_decision, _request, response) => response${statusText(code)}.send(${DEFAULT_MESSAGE})`,
  })
}

function statusText(code: string): string {
  return STATUSES.includes(code) ? '' : `.status(${code})`
}

/** Sends what `message` is or returns. Where it may have sent something itself, nothing. */
function sender(source: Source, message: NodePath, send: string): string {
  const value = resolved(message)
  if (!value.isFunction()) {
    const text = source.current(message.node)
    if (!isKnownValue(value)) source.note(message, `message: if ${text} is a function, call it.`)
    return `(_decision, _request, response) => ${send}(${text})`
  }
  const body = call(source, message, ['request', 'response'])
  const canSend = value.node.params.length > 1
  if (!canSend) return `async (_decision, request, response) => ${send}(await ${body})`
  const lines = [
    'async (_decision, request, response) => {',
    `  const body = await ${body}`,
    `  if (!response.writableEnded) ${send}(body)`,
    '}',
  ]
  return lines.join(source.eol + source.indentOf(message.node))
}

/** Whether an expression is certainly no function. */
function isKnownValue(path: NodePath): boolean {
  return (
    path.isLiteral() ||
    path.isObjectExpression() ||
    path.isArrayExpression() ||
    path.isBinaryExpression()
  )
}

const HANDLER =
  'handler: respond is called with (decision, request, response). It has no next (throw the error instead) and no options, and decision.retryAfterMs is the time to wait.'

/** @returns undefined if the handler was rewritten where it is */
function handlerText(options: OptionsObject, handler: NodePath): string | undefined {
  if (isInlineFunction(handler)) {
    rewrite(options, handler)
    noteStatus(options, handler)
    return undefined
  }
  const target = resolved(handler)
  if (!target.isFunction() || target.node.params.length > 2) options.leave(HANDLER)
  noteStatus(options, target)
  const called = call(options.source, handler, ['request', 'response'])
  return `(_decision, request, response) => ${called}`
}

/** A function that sets no status responds with 200 there. */
function noteStatus(options: OptionsObject, fn: NodePath<t.Function>): void {
  const setsStatus = /\b(status|statusCode|sendStatus|writeHead|redirect|throw|next)\b/
  if (!setsStatus.test(options.source.original(fn.node.body))) {
    options.note('handler: the response has the status 429 already.')
  }
}

function rewrite(options: OptionsObject, fn: InlineFunction): void {
  const { source } = options
  const isTakenApart = fn.get('params').some((param, i) => i > 1 && param.isObjectPattern())
  if (isTakenApart) options.leave(HANDLER)
  for (const path of usesOfParameter(fn, 2))
    throwInstead(source, nextCall(fn, path) ?? options.leave(HANDLER))
  for (const path of usesOfParameter(fn, 3)) replaceOption(options, path)
  const usesDecision = replaceInfo(source, fn)
  const [request = '_request', response] = parameterTexts(source, fn)
  const name = usesDecision ? 'decision' : '_decision'
  const hasOthers = response !== undefined || usesParameter(fn, 0)
  setParameters(source, fn, [
    ...(hasOthers || usesDecision ? [name] : []),
    ...(hasOthers ? [request] : []),
    ...(response !== undefined ? [response] : []),
  ])
}

/** `next(error)` where throwing the error does the same; undefined: it does more, or is elsewhere. */
function nextCall(fn: InlineFunction, path: NodePath): NodePath<t.CallExpression> | undefined {
  const { parentPath } = path
  if (!parentPath?.isCallExpression() || path.key !== 'callee') return undefined
  const [error, ...others] = parentPath.get('arguments') as NodePath[]
  // `next('route')` is no error.
  if (!error?.isExpression() || error.isStringLiteral() || others.length > 0) return undefined
  const outer = parentPath.parentPath
  if (path.getFunctionParent()?.node !== fn.node || isCaught(path)) return undefined
  if (outer.isReturnStatement() || outer.isArrowFunctionExpression()) return parentPath
  return outer.isExpressionStatement() && isLast(outer) ? parentPath : undefined
}

/** Whether a `catch` of the same function would get what is thrown. */
function isCaught(path: NodePath): boolean {
  const block = path.findParent((each) => each.isFunction() || each.key === 'block')
  return block?.parentPath?.isTryStatement() ?? false
}

/** Whether nothing is done behind a statement. */
function isLast(statement: NodePath): boolean {
  const next = statement.getNextSibling()
  return !next.node || next.isReturnStatement()
}

function throwInstead(source: Source, path: NodePath<t.CallExpression>): void {
  const text = `throw ${source.current(path.node.arguments[0] as t.Node)}`
  const outer = path.parentPath
  if (outer.isArrowFunctionExpression()) {
    const indent = source.indentOf(outer.node)
    source.replace(path.node, ['{', `${indent}  ${text}`, `${indent}}`].join(source.eol))
    return
  }
  const end = source.original(outer.node).endsWith(';') ? ';' : ''
  source.replace(outer.node, text + end)
}

/** `options.message` in the handler: the option itself. */
function replaceOption(options: OptionsObject, path: NodePath): void {
  const { source } = options
  const { member, name } = memberOf(path) ?? options.leave(HANDLER)
  const value = options.value(name)
  if (value?.isFunction()) options.leave(HANDLER)
  const text = value ? source.current(value.node) : (DEFAULTS[name] ?? options.leave(HANDLER))
  const isObject = value !== undefined && unwrapped(value).isObjectExpression()
  source.replace(member.node, isObject ? `(${text})` : text)
}

/** `request.rateLimit.resetTime` and the like. @returns whether there are any */
function replaceInfo(source: Source, fn: InlineFunction): boolean {
  let isUsed = false
  for (const path of usesOfParameter(fn, 0)) {
    const info = memberOf(path)
    if (info?.name !== 'rateLimit') continue
    isUsed = true
    const field = memberOf(info.member)
    const text = field && ofRateLimitInfo('decision', isInArithmetic(field.member))[field.name]
    if (field === undefined || text === undefined) source.leave(`handler: ${DIFFERENCES.info}`)
    if (['used', 'current'].includes(field.name) && isCompared(field.member)) {
      source.leave(DIFFERENCES.used)
    }
    if (field.name === 'resetTime') source.note(path, DIFFERENCES.resetTime)
    source.replace(field.member.node, text)
  }
  return isUsed
}
