import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { resolved, unwrapped, wrapped } from '../bindings.ts'
import { DIFFERENCES } from '../differences.ts'
import { durationOf } from '../durations.ts'
import { ELSEWHERE, ownValue } from '../find-options.ts'
import { isInlineFunction, methodCallOf, setParameters, usesOfParameter } from '../functions.ts'
import { reindented } from '../indent.ts'
import { isShort, LOG, renameLimit, renameWindow, takesLog } from '../numbers.ts'
import { call, checkUnknown, renameBlock, renameKey } from '../option-functions.ts'
import { type Entry, OptionsObject } from '../options-object.ts'
import { parseProgram } from '../parse.ts'
import { isTypeScript, type Source } from '../source.ts'
import { renameStorage } from './nest-storage.ts'

const HEADERS = "'legacy-delta'"
/** The options of a policy. */
const OF_POLICY = ['name', 'ttl', 'limit', 'getTracker']

/** `[{ name, ttl, limit }]`, `{ throttlers: […], … }`, or before version 5 `{ ttl, limit }` in seconds. */
export function migrateModuleOptions(source: Source, given: NodePath): void {
  const inner = ownValue(source, given)
  migrateModuleValue(source, inner)
  // In the type of a variable, the name of an algorithm would be any text.
  const isVariable = inner !== unwrapped(given) && isTypeScript(source)
  if (isVariable) source.edits.appendLeft(inner.node.end as number, ' as const')
}

function migrateModuleValue(source: Source, inner: NodePath): void {
  if (inner.isArrayExpression()) {
    migrateList(source, inner)
    return
  }
  if (!inner.isObjectExpression()) source.leave(ELSEWHERE)
  const options = new OptionsObject(source, inner)
  const throttlers = options.value('throttlers')
  const list = throttlers && ownValue(source, throttlers)
  if (options.spreads.length > 0) source.leave(ELSEWHERE)
  if (list?.isArrayExpression()) {
    const ttl = elementsOf(source, list)[0]?.value('ttl')
    renameBlock(options, 1, ttl && durationOf(source, ttl, 1))
    nestThrottlers(options, list)
  } else if (throttlers !== undefined) source.leave(ELSEWHERE)
  else migrateThrottler(options, 1000)
  renameCommon(options)
  renameStorage(options)
  renameMessage(options)
  if (options.is('setHeaders', false)) options.rename('setHeaders', 'false')
  else {
    options.remove('setHeaders')
    options.add(['headers', HEADERS])
  }
  checkUnknown(options)
  options.finish()
}

/** The body is what Nest makes of the text there. */
function renameMessage(options: OptionsObject): void {
  const { source } = options
  const message = options.value('errorMessage')
  if (message === undefined) return
  const inner = resolved(message)
  const isText = inner.isStringLiteral() || inner.isTemplateLiteral() || inner.isArrayExpression()
  const isCalled = isInlineFunction(message) && message.node.params.length === 0
  if (!isText && !isCalled) {
    options.leave(
      'errorMessage: respond is called with (decision, request, response), and returns the body.',
    )
  }
  const text = isCalled ? call(source, message, []) : source.original(message.node)
  options.rename('errorMessage', `() => ({ statusCode: 429, message: ${text} })`)
}

/** The list without an object around it. */
function migrateList(source: Source, list: NodePath<t.ArrayExpression>): void {
  const { start, end } = list.node as { start: number; end: number }
  const needsParentheses =
    wrapped(list).parentPath?.isArrowFunctionExpression() &&
    !/\(\s*$/.test(source.text.slice(0, start))
  const [open, close] = needsParentheses ? ['(', ')'] : ['', '']
  const sole = migrateThrottlers(source, list, ['headers', HEADERS])
  if (sole !== undefined) {
    const text = reindented(source.current(sole.path.node), source.indentOf(list.node))
    source.replace(list.node, open + text + close)
    return
  }
  source.edits.appendLeft(start, `${open}{ policies: `)
  source.edits.appendRight(end, `, headers: ${HEADERS} }${close}`)
}

/** `throttlers: […]` among other options. */
function nestThrottlers(options: OptionsObject, list: NodePath<t.ArrayExpression>): void {
  const { source } = options
  const sole = migrateThrottlers(source, list)
  if (sole === undefined) options.renameTo('throttlers', 'policies')
  else options.replace('throttlers', ...entriesOf(source.current(sole.path.node)))
}

/** @param added options of the only one. @returns the only one, if it has the name that a policy has without one */
function migrateThrottlers(
  source: Source,
  list: NodePath<t.ArrayExpression>,
  ...added: readonly Entry[]
): OptionsObject | undefined {
  const elements = elementsOf(source, list)
  const [first, ...others] = elements
  if (first === undefined || others.length > 0 || !isDefault(first)) {
    for (const each of elements) finishPolicy(each)
    return undefined
  }
  first.remove('name')
  migrateThrottler(first)
  checkUnknown(first)
  first.add(...added)
  first.finish()
  return first
}

/** @param text an object, as source code */
function entriesOf(text: string): Entry[] {
  const entries: Entry[] = []
  const code = `(${text})`
  parseProgram(code, 'options.ts').traverse({
    ObjectExpression(path) {
      for (const { key, value, start, end } of path.node.properties.filter(isProperty)) {
        const [whole, name, own] = [{ start, end }, key, value].map((each) =>
          code.slice(each.start as number, each.end as number),
        ) as [string, string, string]
        entries.push(whole === name ? [name, name] : [name, own])
      }
      path.stop()
    },
  })
  return entries
}

function isProperty(node: t.Node): node is t.ObjectProperty {
  return node.type === 'ObjectProperty'
}

/** The throttlers of a list. Leaves the call if they are not all in it. */
function elementsOf(source: Source, list: NodePath<t.ArrayExpression>): OptionsObject[] {
  if (list.node.elements.length === 0) source.leave('It has no throttlers, so it limits nothing.')
  return list.get('elements').map((each) => {
    const element = each.node === null ? undefined : unwrapped(each as NodePath)
    if (!element?.isObjectExpression()) source.leave(ELSEWHERE)
    const options = new OptionsObject(source, element)
    if (options.spreads.length > 0) source.leave(ELSEWHERE)
    return options
  })
}

function isDefault(options: OptionsObject): boolean {
  const name = options.value('name')
  return name === undefined || name.isStringLiteral({ value: 'default' })
}

function finishPolicy(options: OptionsObject): void {
  checkUnknown(options, OF_POLICY)
  options.source.noteCall(DIFFERENCES.nestNames)
  migrateThrottler(options)
  if (!options.has('name')) options.add(['name', "'default'"])
  options.finish()
}

/**
 * The numbers of one throttler that a decorator changes. `finish` is left to the caller.
 *
 * @param limit what the module says, if the decorator does not
 */
export function renameThrottler(options: OptionsObject, limit: number | undefined): void {
  if (options.spreads.length > 0) options.leave(ELSEWHERE)
  if (!options.has('limit')) options.add(['limit', String(limit)])
  migrateThrottler(options, 1, limit)
  checkUnknown(options)
}

/** Rewrites one throttler. @param unitMs the unit of its times. @param fallback the limit without `limit` */
function migrateThrottler(options: OptionsObject, unitMs: 1 | 1000 = 1, fallback = 0): void {
  const { source } = options
  const [ttl, limit] = [options.value('ttl'), options.value('limit')]
  if (ttl === undefined && limit === undefined) options.leave(ELSEWHERE)
  const window = ttl && durationOf(source, ttl, unitMs)
  if (isInlineFunction(ttl)) renameOfContext(options, 'ttl')
  else renameWindow(options, { window: 'ttl', unitMs })
  if (isInlineFunction(limit)) renameOfContext(options, 'limit')
  else {
    renameLimit(options, ['limit'])
    const isLog = limit === undefined ? isShort(fallback) : takesLog(source, limit)
    if (isLog) options.add(LOG)
    source.noteCall(DIFFERENCES.window('@nestjs/throttler', isLog))
    source.noteCall(DIFFERENCES.retryAfter)
  }
  renameBlock(options, 1, window)
  renameCommon(options)
}

function renameCommon(options: OptionsObject): void {
  renameOfContext(options, 'skipIf')
  renameKey(options, 'getTracker')
  if (options.has('generateKey')) {
    options.leave(
      'generateKey: key returns what identifies a client; the handler is never a part of it.',
    )
  }
  options.renameTo('ipv6SubnetPrefix', 'ipv6Prefix')
  renameAgents(options)
}

function renameAgents(options: OptionsObject): void {
  const { source } = options
  const agents = options.value('ignoreUserAgents')
  if (agents === undefined) return
  const test = `${source.original(agents.node)}.some((agent) => agent.test(String(request.headers['user-agent'])))`
  if (options.has('skipIf')) {
    options.leave(`ignoreUserAgents: add it to skip: || ${test}`)
  } else options.renameTo('ignoreUserAgents', 'skip', `(request) => ${test}`)
}

/** A function of Nest's context becomes one of the request. */
function renameOfContext(options: OptionsObject, name: string): void {
  const { source } = options
  const fn = options.value(name)
  const reason = `${name}: the function gets the request here, not Nest's context.`
  if (fn !== undefined && !isInlineFunction(fn) && name === 'skipIf') options.leave(reason)
  if (isInlineFunction(fn) && fn.node.params.length > 0) {
    for (const use of usesOfParameter(fn, 0))
      source.replace((requestOf(use) ?? options.leave(reason)).node, 'request')
    setParameters(source, fn, ['request'])
  }
  options.rename(name)
}

/** `context.switchToHttp().getRequest()`. */
function requestOf(path: NodePath): NodePath | undefined {
  const http = methodCallOf(path)
  const request = http?.name === 'switchToHttp' ? methodCallOf(http.call) : undefined
  return request?.name === 'getRequest' ? request.call : undefined
}
