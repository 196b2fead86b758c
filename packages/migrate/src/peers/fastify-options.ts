import { isIP } from 'node:net'
import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { propertyOf, resolved, unwrapped } from '../bindings.ts'
import { ofFastifyContext } from '../decision-fields.ts'
import { DIFFERENCES } from '../differences.ts'
import { durationMs, durationOf } from '../durations.ts'
import type { Rewriting } from '../find-options.ts'
import {
  type InlineFunction,
  isInlineFunction,
  parameterTexts,
  planFields,
  readsOfParameter,
  resultsOf,
  setParameters,
} from '../functions.ts'
import {
  addDefaults,
  addLog,
  constantOf,
  mayBeText,
  type Numbers,
  renameNumbers,
} from '../numbers.ts'
import {
  call,
  checkUnknown,
  renameFunction,
  renameKey,
  returnsAddress,
} from '../option-functions.ts'
import type { OptionsObject } from '../options-object.ts'
import type { Source } from '../source.ts'
import { checkClient } from './redis-client.ts'
import { validPrefix } from './redis-store.ts'

/** The context of all options of a file. */
export interface Context extends Rewriting {
  /** False if the plugin limits only routes with options of their own; undefined: it is not seen. */
  isGlobal: boolean | undefined
}

/** Where options are: a part is spread into others. */
export type Place = 'plugin' | 'part' | 'route' | 'hook'

export const NUMBERS: Numbers = {
  window: 'timeWindow',
  windowMs: 60_000,
  readsText: true,
  limits: ['max'],
  limit: 1000,
}
const HOOKS = ['onRequest', 'preValidation', 'preHandler']
/** Refused requests are not counted here, so these have no meaning. */
const NOT_COUNTED = ['continueExceeding', 'exponentialBackoff']
const KEY = "onExceeding, onExceeded, onBanReach: the key begins with 'key:' here."
const POLICY = 'headers: the field RateLimit-Policy comes with the others.'
const TEXT =
  'max: text, as a variable of the environment is, has no meaning there, and the limit is 1000. Write limit: Number(…) if it shall have one.'
const FIELDS =
  'headers: every response has all the fields of a profile; some of them can not be left out.'
const AFTER = 'after: the text has seconds here, such as 60 seconds for 1 minute.'
const OTHERS = 'request.routeOptions.config.rateLimit === undefined'

export function migrateOptions(context: Context, options: OptionsObject, place: Place): void {
  const { source } = context
  const { mayHave } = options
  const window = options.value('timeWindow')
  const text = window && durationOf(source, window, 1)
  const max = options.value('max')
  if (max !== undefined && mayBeText(max)) source.leave(TEXT)
  renameNumbers(options, NUMBERS)
  checkDuration(source, window)
  const readsRequest = ['keyGenerator', 'max', 'allowList', 'timeWindow'].some((name) =>
    isInlineFunction(options.value(name)),
  )
  if (readsRequest) options.note(DIFFERENCES.fastifyHook)
  renameAllowList(options)
  renameKey(options, 'keyGenerator')
  renameStore(context, options)
  renameHeaders(options, place === 'plugin' && !mayHave('enableDraftSpec'))
  renameBan(options, text ?? "'1m'")
  renameResponse(options)
  renameFailures(options)
  renameEvents(options)
  renameGlobal(context, options, place)
  renameOthers(options)
  if (place !== 'plugin') {
    if (options.has('max')) addLog(options, NUMBERS)
    return
  }
  const isLog = addDefaults(options, NUMBERS)
  if (context.isGlobal !== false) options.note(DIFFERENCES.fastifyUnknown)
  options.note(DIFFERENCES.window(context.imports.from, isLog))
  options.note(DIFFERENCES.retryAfter)
  if (!mayHave('errorResponseBuilder')) options.note(DIFFERENCES.fastifyBody)
}

/** Leaves the call if a duration as text is none here. */
function checkDuration(source: Source, path: NodePath | undefined): void {
  if (path?.isStringLiteral() && durationMs(path.node.value) === undefined) {
    source.leave(`timeWindow: ${source.original(path.node)} is no duration here.`)
  }
}

function renameStore({ source, imports }: Context, options: OptionsObject): void {
  const cache = options.value('cache')
  if (options.has('store')) source.leave('store: a store of your own has other methods here.')
  const redis = options.value('redis')
  const isInMemory = redis === undefined || redis.isIdentifier({ name: 'undefined' })
  if (!isInMemory && !options.has('nameSpace')) options.note(DIFFERENCES.fastifyPrefix)
  if (isInMemory) options.remove('redis')
  else {
    checkClient(source, redis)
    options.rename('redis')
  }
  const prefix = options.value('nameSpace')
  if (prefix !== undefined) options.rename('nameSpace', validPrefix(source, prefix))
  if (cache === undefined) return
  if (isInMemory) {
    const keys = source.original(cache.node)
    options.rename('cache', `${imports.local('memoryStore')}({ maxKeys: ${keys} })`)
  } else options.remove('cache')
}

/** The list has keys there, of which addresses are one kind. */
function renameAllowList(options: OptionsObject): void {
  const list = options.value('allowList')
  if (list === undefined) return
  if (resolved(list).isFunction()) {
    renameFunction(options, 'allowList')
    options.renameTo('allowList', 'skip')
    return
  }
  const lists = listsIn(list)
  if (lists === undefined) {
    options.leave('allowList: allow is an array of addresses and keys; for a function, write skip.')
  }
  const key = options.value('keyGenerator')
  const isAddress = key === undefined || (isInlineFunction(key) && returnsAddress(key))
  const elements = lists.flatMap((each) => each.get('elements'))
  const isOfKeys = elements.every((each) => each.isStringLiteral() && !isIP(each.node.value))
  if (!isAddress && !isOfKeys) {
    options.leave(
      'allowList: with a key function, its addresses are keys there. allow reads them as addresses of clients.',
    )
  }
  options.rename('allowList')
}

/** `[…]`, `x ? […] : […]` */
function listsIn(path: NodePath): NodePath<t.ArrayExpression>[] | undefined {
  const inner = resolved(path)
  if (inner.isArrayExpression()) return [inner]
  if (!inner.isConditionalExpression()) return undefined
  const [one, other] = [listsIn(inner.get('consequent')), listsIn(inner.get('alternate'))]
  return one && other && [...one, ...other]
}

function renameHeaders(options: OptionsObject, isWhole: boolean): void {
  const names = ['enableDraftSpec', 'addHeaders', 'addHeadersOnExceeding']
  const isDraft = options.is('enableDraftSpec', true)
  const value = isDraft ? "'draft-6'" : isOff(options) ? 'false' : "'legacy-delta'"
  const isSome = names.some((name) => /\bfalse\b/.test(options.text(name) ?? ''))
  if (isDraft) options.note(POLICY)
  const isStated = isDraft || options.is('enableDraftSpec', false)
  if (isSome && value !== 'false' && !isStated) options.note(FIELDS)
  options.merge(names, ['headers', value], isWhole)
}

/** Whether all fields are switched off. */
function isOff(options: OptionsObject): boolean {
  const lists = ['addHeaders', 'addHeadersOnExceeding'].map((name) => options.value(name))
  return lists.every((list) => {
    if (!list?.isObjectExpression()) return false
    return list
      .get('properties')
      .every(
        (each) => each.isObjectProperty() && each.get('value').isBooleanLiteral({ value: false }),
      )
  })
}

function renameBan(options: OptionsObject, window: string): void {
  const ban = options.value('ban')
  if (ban === undefined) return
  const after = constantOf(ban)
  if (after === -1 || ban.isNullLiteral()) options.remove('ban')
  else if (after === undefined || after < 1 || after > 100 || window.includes('=>')) {
    options.leave(
      'ban: { after, within, for } takes its place: after 1 to 100 refusals within a duration, for another one.',
    )
  } else {
    options.rename('ban', `{ after: ${after}, within: ${window}, for: [${window}] }`)
    options.note(DIFFERENCES.fastifyBan)
  }
}

function renameResponse(options: OptionsObject): void {
  const { source } = options
  const builder = options.value('errorResponseBuilder')
  if (builder === undefined) return
  const fn = isInlineFunction(builder) ? builder : undefined
  const replaceFields =
    fn && planFields(source, readsOfParameter(fn, 1), ofFastifyContext('decision'))
  if (fn === undefined || replaceFields === undefined) {
    options.leave(
      'errorResponseBuilder: respond is called with (decision, request, reply). Throw there what this returns. decision has limit for max, and retryAfterMs for ttl.',
    )
  }
  replaceFields()
  if (/\bafter\b/.test(source.original(fn.node))) options.note(AFTER)
  const isSent = resultsOf(fn).every(isBody) && !hasErrorHandler(source)
  if (!isSent && resultsOf(fn).some(hasNoStatus)) options.note(THROWN)
  if (!isSent) throwResults(source, fn)
  const [request] = parameterTexts(source, fn)
  setParameters(source, fn, ['decision', ...(request === undefined ? [] : [request])])
  options.rename('errorResponseBuilder')
  if (isSent) options.note(SENT)
}

const SENT =
  "respond returns the body, which is sent as it is, with the status 429; there, a body without statusCode gets 500. For an error that your error handler gets, throw it in respond, or write respond: 'throw'."

const THROWN = 'what respond throws without a statusCode is sent with 429; there it gets 500.'

/** Whether it is an object that says no status as a number. */
function hasNoStatus(path: NodePath): boolean {
  return statusesIn(path)?.every((value) => value.isStringLiteral()) ?? false
}

/** Whether a file of the application renders errors itself: what is thrown goes through it. */
function hasErrorHandler({ files }: Source): boolean {
  return files.some(({ text }) => text.includes('setErrorHandler'))
}

/** An object that changes no status: that of what is thrown becomes the response's there. */
function isBody(path: NodePath): boolean {
  const isSame = (value: NodePath) =>
    constantOf(value) === 429 || /\.(statusCode|TOO_MANY_REQUESTS)$/.test(value.toString())
  return statusesIn(path)?.every(isSame) ?? false
}

/** The statuses in an object; undefined: it is none, or it is not seen which fields it has. */
function statusesIn(path: NodePath): NodePath[] | undefined {
  const object = unwrapped(path)
  if (!object.isObjectExpression()) return undefined
  if (!object.node.properties.every(({ type }) => type === 'ObjectProperty')) return undefined
  return ['status', 'statusCode'].flatMap((name) => propertyOf(object, name) ?? [])
}

/** The plugin throws the result of the function. */
function throwResults(source: Source, fn: InlineFunction): void {
  const body = fn.get('body') as NodePath
  if (!body.isBlockStatement()) {
    // Parentheses around an object are not part of it.
    const text = source.current(body.node)
    const { parenStart } = body.node.extra ?? {}
    const start = (parenStart ?? body.node.start) as number
    const end =
      parenStart === undefined
        ? body.node.end
        : source.text.indexOf(')', body.node.end as number) + 1
    source.replace({ start, end: end as number }, `{ throw ${text} }`)
    return
  }
  for (const result of resultsOf(fn)) {
    const start = result.getStatementParent()?.node.start as number
    source.edits.overwrite(start, start + 'return'.length, 'throw')
  }
}

function renameFailures(options: OptionsObject): void {
  const skip = options.value('skipOnError')
  if (skip?.isBooleanLiteral()) {
    options.rename('skipOnError', skip.node.value ? "'allow'" : "'deny'")
    const note = skip.node.value ? DIFFERENCES.passOnStoreError : DIFFERENCES.closed
    if (skip.node.value || options.has('redis')) options.note(note)
    return
  }
  if (skip !== undefined) options.leave("skipOnError: onStoreError is 'allow', 'deny' or 'local'.")
  options.remove('skipOnError')
  if (options.has('redis') && skip === undefined) options.note(DIFFERENCES.storeErrors)
}

/** `onExceeding`, `onExceeded` and `onBanReach` become one function. */
function renameEvents(options: OptionsObject): void {
  const { source } = options
  const tests = {
    onExceeding: 'decision.allowed',
    onExceeded: '!decision.allowed',
    onBanReach: 'decision.ban?.began',
  }
  const names = Object.keys(tests).filter((name) => options.has(name)) as (keyof typeof tests)[]
  const [first] = names
  if (first === undefined) return
  const readsKey = names.some(
    (name) => (resolved(options.value(name) as NodePath).node as t.Function).params?.length !== 1,
  )
  if (readsKey && options.has('keyGenerator')) options.note(KEY)
  const indent = source.indentOf((options.value(first) as NodePath).node)
  const lines = names.map((name) => {
    const given = ['request', "decision.policies[0]?.key ?? ''"]
    const called = call(source, options.value(name) as NodePath, given)
    return `${indent}  if (${tests[name]}) ${called}${source.eol}`
  })
  const text = `(decision, request) => {${source.eol}${lines.join('')}${indent}}`
  options.merge(names, ['onDecision', text])
}

function renameGlobal(context: Context, options: OptionsObject, place: Place): void {
  const isOff = options.is('global', false)
  options.remove('global')
  if (isOff && place !== 'hook') {
    context.isGlobal = false
    options.note(DIFFERENCES.fastifyGlobal)
    if (isInlineFunction(options.value('allowList'))) {
      options.note(`skip: add || ${OTHERS}, so that other routes are exempt.`)
    } else options.replace('global', ['skip', `(request) => ${OTHERS}`])
  }
  if (place === 'hook' && context.isGlobal === false) options.add(['skip', '() => false'])
}

function renameOthers(options: OptionsObject): void {
  if (options.has('groupId')) {
    options.leave(
      'groupId: routes that share a quota share a hook. const shared = app.rateLimit.hook({ limit, window }), and onRequest: shared in each of them.',
    )
  }
  if (NOT_COUNTED.some((name) => options.has(name))) {
    options.remove(...NOT_COUNTED)
    options.note('refused requests are not counted, so nothing extends a window.')
  }
  options.rename('ipv6Subnet')
  const hook = options.value('hook')
  if (hook?.isStringLiteral() && !HOOKS.includes(hook.node.value)) {
    options.leave(`hook: Sluice runs in ${HOOKS.join(', ')}.`)
  }
  checkUnknown(options, ['hook'])
}
