import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { nameOf, resolved, unwrapped, wrapped } from '../bindings.ts'
import { DIFFERENCES } from '../differences.ts'
import { durationOf } from '../durations.ts'
import {
  functionText,
  isInlineFunction,
  memberOf,
  setParameters,
  usesOfParameter,
} from '../functions.ts'
import type { Imports } from '../imports.ts'
import { reindented } from '../indent.ts'
import { renameKey } from '../option-functions.ts'
import { OptionsObject } from '../options-object.ts'
import type { Source } from '../source.ts'
import { renameStorage } from './nest-storage.ts'

const ELSEWHERE =
  'some of these options are made elsewhere. Write { limit, window } there, or { policies: [{ name, limit, window }] }.'
const HEADERS = "'legacy-delta'"

/** `[{ name, ttl, limit }]`, `{ throttlers: […], … }` or `{ ttl, limit }`. */
export function migrateModuleOptions(
  source: Source,
  storages: readonly Imports[],
  given: NodePath,
): void {
  const inner = resolved(given)
  if (inner.isArrayExpression()) {
    migrateList(source, inner)
    return
  }
  if (!inner.isObjectExpression()) {
    source.note(given, ELSEWHERE)
    return
  }
  const options = new OptionsObject(source, inner)
  const throttlers = options.value('throttlers')
  const list = throttlers && resolved(throttlers)
  if (list?.isArrayExpression()) {
    const ttl = elementsOf(source, list)?.[0]?.value('ttl')
    renameBlock(source, options, ttl && durationOf(source, ttl, 1))
    nestThrottlers(source, options, list)
  } else if (throttlers !== undefined) source.note(given, ELSEWHERE)
  else migrateThrottler(source, options)
  renameCommon(source, options)
  renameStorage(source, options, storages)
  const message = options.value('errorMessage')
  if (message !== undefined) {
    const text = source.original(message.node)
    options.rename('errorMessage', resolved(message).isFunction() ? text : `() => ${text}`)
  }
  const headers = options.value('setHeaders')
  if (headers?.isBooleanLiteral({ value: false })) options.rename('setHeaders', 'false')
  else {
    options.remove('setHeaders')
    options.add(['headers', HEADERS])
  }
  options.finish()
}

/** The list without an object around it. */
function migrateList(source: Source, list: NodePath<t.ArrayExpression>): void {
  const elements = elementsOf(source, list)
  if (elements === undefined) {
    source.note(list, ELSEWHERE)
    return
  }
  const [first] = elements
  const { start, end } = list.node as { start: number; end: number }
  const needsParentheses =
    wrapped(list).parentPath?.isArrowFunctionExpression() &&
    !/\(\s*$/.test(source.text.slice(0, start))
  const [open, close] = needsParentheses ? ['(', ')'] : ['', '']
  if (elements.length === 1 && first !== undefined && isDefault(first)) {
    first.remove('name')
    migrateThrottler(source, first)
    first.add(['headers', HEADERS])
    first.finish()
    const text = reindented(source.current(first.path.node), source.indentOf(list.node))
    source.replace(list.node, open + text + close)
    return
  }
  for (const each of elements) finishPolicy(source, each)
  source.edits.appendLeft(start, `${open}{ policies: `)
  source.edits.appendRight(end, `, headers: ${HEADERS} }${close}`)
}

/** `throttlers: […]` among other options. */
function nestThrottlers(
  source: Source,
  options: OptionsObject,
  list: NodePath<t.ArrayExpression>,
): void {
  const elements = elementsOf(source, list)
  if (elements === undefined) {
    source.note(list, ELSEWHERE)
    return
  }
  const [first] = elements
  if (elements.length === 1 && first !== undefined && isDefault(first)) {
    first.remove('name')
    migrateThrottler(source, first)
    first.finish()
    const entries = first.path.get('properties').flatMap((each) => {
      const text = source.current(each.node).trim()
      const found = /^(\w+)(?::\s*([\s\S]*))?$/.exec(text)
      return found === null ? [] : [[found[1] as string, found[2] ?? (found[1] as string)] as const]
    })
    options.replace('throttlers', ...entries)
    return
  }
  for (const each of elements) finishPolicy(source, each)
  options.renameTo('throttlers', 'policies')
}

function elementsOf(
  source: Source,
  list: NodePath<t.ArrayExpression>,
): OptionsObject[] | undefined {
  const elements = list.get('elements').map((each) => unwrapped(each as NodePath))
  if (!elements.every((each) => each.isObjectExpression())) return undefined
  return elements.map((each) => new OptionsObject(source, each as NodePath<t.ObjectExpression>))
}

/** Whether it has the name that a policy has without one. */
function isDefault(options: OptionsObject): boolean {
  const name = options.value('name')
  return name === undefined || name.isStringLiteral({ value: 'default' })
}

function finishPolicy(source: Source, options: OptionsObject): void {
  migrateThrottler(source, options)
  if (!options.has('name')) options.add(['name', "'default'"])
  options.finish()
}

/** `@Throttle({ default: { limit, ttl } })`: the name becomes that of a policy, or goes. */
export function migrateThrottlers(source: Source, object: NodePath<t.ObjectExpression>): void {
  const entries = object.get('properties').map((each) => {
    const value = each.isObjectProperty() ? resolved(each.get('value') as NodePath) : undefined
    const name = each.isObjectProperty() ? nameOf(each.node.key) : undefined
    return { name, value: value?.isObjectExpression() ? value : undefined }
  })
  if (entries.some(({ name, value }) => name === undefined || value === undefined)) {
    source.note(object, ELSEWHERE)
    return
  }
  const texts = entries.map(({ name, value }) => {
    const options = new OptionsObject(source, value as NodePath<t.ObjectExpression>)
    migrateThrottler(source, options)
    options.finish()
    return { name, text: source.current((value as NodePath).node) }
  })
  source.note(object, DIFFERENCES.nestReplaces)
  const [only] = texts
  if (texts.length === 1 && only?.name === 'default') {
    source.replace(object.node, only.text)
    return
  }
  const policies = texts.map(({ name, text }) => text.replace(/^\{\s*/, `{ name: '${name}', `))
  source.replace(object.node, `{ policies: [${policies.join(', ')}] }`)
}

/** What one throttler says. */
function migrateThrottler(source: Source, options: OptionsObject): void {
  const ttl = options.value('ttl')
  const window = ttl && durationOf(source, ttl, 1)
  if (isInlineFunction(ttl)) renameOfContext(source, options, 'ttl')
  else if (window !== undefined) options.rename('ttl', window)
  renameOfContext(source, options, 'limit')
  renameBlock(source, options, window)
  renameCommon(source, options)
}

/** @param window the length of the window, as source code */
function renameBlock(source: Source, options: OptionsObject, window = "'1m'"): void {
  const block = options.value('blockDuration')
  if (block === undefined) return
  const duration = durationOf(source, block, 1)
  options.rename('blockDuration', `{ after: 1, within: ${window}, for: [${duration}] }`)
}

function renameCommon(source: Source, options: OptionsObject): void {
  renameOfContext(source, options, 'skipIf')
  renameKey(source, options, 'getTracker')
  if (options.has('generateKey')) {
    options.remove('generateKey')
    source.note(
      options.path,
      'generateKey: key returns what identifies a client; the handler is never a part of it.',
    )
  }
  const subnet = options.value('ipv6SubnetPrefix')
  if (subnet !== undefined) options.renameTo('ipv6SubnetPrefix', 'ipv6Prefix')
  renameAgents(source, options)
}

function renameAgents(source: Source, options: OptionsObject): void {
  const agents = options.value('ignoreUserAgents')
  if (agents === undefined) return
  const test = `${source.original(agents.node)}.some((agent) => agent.test(String(request.headers['user-agent'])))`
  if (options.has('skipIf')) {
    options.remove('ignoreUserAgents')
    source.note(options.path, `ignoreUserAgents: add it to skip: || ${test}`)
  } else options.renameTo('ignoreUserAgents', 'skip', `(request) => ${test}`)
}

/** A function of Nest's context becomes one of the request. */
function renameOfContext(source: Source, options: OptionsObject, name: string): void {
  const fn = options.value(name)
  if (fn !== undefined && isInlineFunction(fn) && fn.node.params.length > 0) {
    const requests = usesOfParameter(fn, 0).map(requestOf)
    if (requests.includes(undefined)) {
      source.note(options.path, `${name}: the function gets the request here, not Nest's context.`)
    } else {
      for (const each of requests) source.replace((each as NodePath).node, 'request')
      setParameters(source, fn, ['request'])
    }
  }
  options.rename(name, fn?.isObjectMethod() ? functionText(source, fn as never) : undefined)
}

/** `context.switchToHttp().getRequest()`. */
function requestOf(path: NodePath): NodePath | undefined {
  const http = memberOf(path)
  if (http?.name !== 'switchToHttp' || !http.member.parentPath?.isCallExpression()) return undefined
  const request = memberOf(http.member.parentPath)
  if (request?.name !== 'getRequest') return undefined
  const call = request.member.parentPath
  return call?.isCallExpression() ? call : undefined
}
