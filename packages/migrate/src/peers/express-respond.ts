import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { resolved, unwrapped } from '../bindings.ts'
import { ofRateLimitInfo } from '../decision-fields.ts'
import {
  functionText,
  type InlineFunction,
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

const DEFAULT_STATUS = '429'
/** The statuses that the option `statusCode` takes. */
const STATUSES = ['429', '503']

/** `handler`, `message` and `statusCode` of express-rate-limit become `respond`. */
export function renameResponse(source: Source, options: OptionsObject): void {
  const handler = options.value('handler')
  const message = options.value('message')
  const status = options.value('statusCode')
  const code = status && source.current(status.node)
  const isOtherStatus = code !== undefined && !STATUSES.includes(code)
  if (handler !== undefined) {
    renameHandler(source, options, handler)
    options.remove('message')
  } else if (message !== undefined) {
    const send = `response${isOtherStatus ? `.status(${code})` : ''}.send`
    options.replace('message', ['respond', sender(source, message, send)])
  } else if (isOtherStatus) {
    options.replace('statusCode', [
      'respond',
      `(_decision, _request, response) => response.sendStatus(${code})`,
    ])
    return
  }
  if (isOtherStatus) options.remove('statusCode')
}

function sender(source: Source, message: NodePath, send: string): string {
  const value = resolved(message)
  if (!value.isFunction()) {
    return `(_decision, _request, response) => ${send}(${source.current(message.node)})`
  }
  const body = call(source, message, ['request', 'response'])
  return `async (_decision, request, response) => ${send}(await ${body})`
}

function renameHandler(source: Source, options: OptionsObject, handler: NodePath): void {
  if (isInlineFunction(handler) && rewrite(source, options, handler)) {
    const text = handler.isObjectMethod() ? functionText(source, handler) : undefined
    options.renameTo('handler', 'respond', text)
    return
  }
  const target = resolved(handler)
  const count = target.isFunction() ? target.node.params.length : 4
  if (!isInlineFunction(handler) && count <= 2) {
    const called = call(source, handler, ['request', 'response'])
    options.replace('handler', ['respond', `(_decision, request, response) => ${called}`])
    return
  }
  source.note(
    options.path,
    'handler: respond is called with (decision, request, response). It has no next (throw the error instead) and no options; decision.retryAfterMs is the time to wait. Rewrite the parameters of this function.',
  )
  options.renameTo('handler', 'respond')
}

/** @returns false if it can't be done */
function rewrite(source: Source, options: OptionsObject, fn: InlineFunction): boolean {
  const nexts = usesOfParameter(fn, 2).map(nextCall)
  const given = usesOfParameter(fn, 3).map((path) => optionOf(source, options, path))
  const isTakenApart = fn.get('params').some((param, i) => i > 1 && param.isObjectPattern())
  if (isTakenApart || [...nexts, ...given].includes(undefined)) return false
  for (const next of nexts) throwInstead(source, next as NodePath<t.CallExpression>)
  for (const edit of given) if (edit) source.replace(edit.node, edit.text)
  const usesDecision = replaceInfo(source, fn)
  const [request = '_request', response] = parameterTexts(source, fn)
  const name = usesDecision ? 'decision' : '_decision'
  const hasOthers = response !== undefined || usesParameter(fn, 0)
  setParameters(source, fn, [
    ...(hasOthers || usesDecision ? [name] : []),
    ...(hasOthers ? [request] : []),
    ...(response !== undefined ? [response] : []),
  ])
  return true
}

/** `next(error)` as a statement, or as all of an arrow function. */
function nextCall(path: NodePath): NodePath<t.CallExpression> | undefined {
  const { parentPath } = path
  if (!parentPath?.isCallExpression() || path.key !== 'callee') return undefined
  const [error, ...others] = parentPath.get('arguments') as NodePath[]
  if (!error?.isExpression() || others.length > 0) return undefined
  const outer = parentPath.parentPath
  const isWhole = outer.isExpressionStatement() || outer.isReturnStatement()
  return isWhole || outer.isArrowFunctionExpression() ? parentPath : undefined
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
function optionOf(source: Source, options: OptionsObject, path: NodePath) {
  const found = memberOf(path)
  if (found === undefined) return undefined
  const value = options.value(found.name)
  if (value === undefined) {
    return found.name === 'statusCode'
      ? { node: found.member.node, text: DEFAULT_STATUS }
      : undefined
  }
  if (value.isFunction()) return undefined
  const isObject = unwrapped(value).isObjectExpression()
  const text = source.current(value.node)
  return { node: found.member.node, text: isObject ? `(${text})` : text }
}

/** `request.rateLimit.resetTime` and the like. @returns whether there are any */
function replaceInfo(source: Source, fn: InlineFunction): boolean {
  let isUsed = false
  for (const path of usesOfParameter(fn, 0)) {
    const info = memberOf(path)
    if (info?.name !== 'rateLimit') continue
    isUsed = true
    const field = memberOf(info.member)
    const text = field && ofRateLimitInfo('decision')[field.name]
    if (field !== undefined && text !== undefined) source.replace(field.member.node, text)
    else source.replace(info.member.node, 'decision')
  }
  return isUsed
}
