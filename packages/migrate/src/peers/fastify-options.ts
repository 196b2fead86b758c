import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { unwrapped } from '../bindings.ts'
import { ofFastifyContext } from '../decision-fields.ts'
import { DIFFERENCES } from '../differences.ts'
import { durationOf } from '../durations.ts'
import type { FoundOptions } from '../find-options.ts'
import {
  functionText,
  isInlineFunction,
  parameterTexts,
  replaceFields,
  setParameters,
} from '../functions.ts'
import type { Imports } from '../imports.ts'
import { call, renameFunction, renameKey } from '../option-functions.ts'
import type { OptionsObject } from '../options-object.ts'
import type { Source } from '../source.ts'

/** What the options of a file have in common. */
export interface Context {
  readonly source: Source
  readonly imports: Imports
  readonly seen: Set<t.Node>
  /** False if the plugin limits only routes with options of their own. */
  isGlobal: boolean
}

/** Where options are: a part is spread into others. */
export type Place = 'plugin' | 'part' | 'route' | 'hook'

const HOOKS = ['onRequest', 'preValidation', 'preHandler']
/** Refused requests are not counted here, so these have no meaning. */
const NOT_COUNTED = ['continueExceeding', 'exponentialBackoff']
const OTHERS = 'request.routeOptions.config.rateLimit === undefined'

export function migrateOptions(context: Context, found: FoundOptions, place: Place): void {
  const { source } = context
  const { options, mayHave } = found
  const window = options.value('timeWindow')
  const text = window && durationOf(source, window, 1)
  if (text !== undefined) options.rename('timeWindow', text)
  const readsRequest = ['keyGenerator', 'max', 'allowList', 'timeWindow'].some((name) =>
    isInlineFunction(options.value(name)),
  )
  if (readsRequest) source.note(options.path, DIFFERENCES.fastifyHook)
  renameFunction(source, options, 'max')
  renameKey(source, options, 'keyGenerator')
  renameStore(context, options)
  renameAllowList(source, options)
  renameHeaders(options, place === 'plugin' && !mayHave('enableDraftSpec'))
  renameBan(source, options, text ?? "'1m'")
  renameResponse(source, options)
  renameFailures(source, options)
  renameEvents(source, options)
  renameGlobal(context, options, place)
  noteOthers(source, options)
  if (place !== 'plugin') return
  if (!mayHave('timeWindow')) options.add(['window', "'1m'"])
  if (!mayHave('max')) options.add(['limit', '1000'])
}

function renameStore({ source, imports }: Context, options: OptionsObject): void {
  const cache = options.value('cache')
  options.rename('redis')
  options.rename('nameSpace')
  if (cache === undefined) return
  if (options.has('redis')) options.remove('cache')
  else {
    const keys = source.original(cache.node)
    options.rename('cache', `${imports.local('memoryStore')}({ maxKeys: ${keys} })`)
  }
}

function renameAllowList(source: Source, options: OptionsObject): void {
  const list = options.value('allowList')
  if (list === undefined) return
  const isList = unwrapped(list).isArrayExpression()
  if (!isInlineFunction(list)) {
    options.rename('allowList')
    if (!isList) source.note(options.path, 'allow is an array; for a function, write skip.')
    else if (options.has('keyGenerator')) {
      source.note(
        options.path,
        "allow: write the keys of a key function as 'key:…'; addresses stay as they are.",
      )
    }
    return
  }
  const { length } = list.get('params')
  if (length > 1) renameFunction(source, options, 'allowList')
  options.renameTo(
    'allowList',
    'skip',
    list.isObjectMethod() ? functionText(source, list) : undefined,
  )
}

function renameHeaders(options: OptionsObject, isWhole: boolean): void {
  const names = ['enableDraftSpec', 'addHeaders', 'addHeadersOnExceeding']
  const draft = options.value('enableDraftSpec')
  const first = names.find((name) => options.has(name))
  const value = isDraft(draft) ? "'draft-6'" : isOff(options) ? 'false' : "'legacy-delta'"
  options.remove(...names)
  if (first !== undefined) options.replace(first, ['headers', value])
  else if (isWhole) options.add(['headers', value])
}

function isDraft(path: NodePath | undefined): boolean {
  return path?.isBooleanLiteral({ value: true }) === true
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

function renameBan(source: Source, options: OptionsObject, window: string): void {
  const ban = options.value('ban')
  if (ban === undefined) return
  const after = source.original(ban.node)
  if (after === '-1') options.remove('ban')
  else if (/^[('"`\d]/.test(window) && !window.includes('=>')) {
    options.rename('ban', `{ after: ${after}, within: ${window}, for: [${window}] }`)
  } else {
    options.rename('ban', `{ after: ${after}, within: '1m', for: ['1m'] }`)
    source.note(options.path, 'ban: set within and for to the length of the window.')
  }
}

function renameResponse(source: Source, options: OptionsObject): void {
  const builder = options.value('errorResponseBuilder')
  if (builder === undefined) return
  if (!isInlineFunction(builder)) {
    source.note(
      options.path,
      'errorResponseBuilder: respond is called with (decision, request, reply). Rewrite this function: decision.limit for max, decision.retryAfterMs for ttl.',
    )
    options.rename('errorResponseBuilder')
    return
  }
  if (!replaceFields(source, builder, 1, ofFastifyContext('decision'))) {
    source.note(
      options.path,
      'errorResponseBuilder: the second parameter is gone. decision has limit for max, and retryAfterMs for ttl.',
    )
    options.rename('errorResponseBuilder')
    return
  }
  const [request] = parameterTexts(source, builder)
  setParameters(source, builder, ['decision', ...(request === undefined ? [] : [request])])
  const isMethod = builder.isObjectMethod()
  options.rename('errorResponseBuilder', isMethod ? functionText(source, builder) : undefined)
  source.note(
    options.path,
    "respond returns the body, which is sent as it is. For an error that your error handler gets, write respond: 'throw'.",
  )
}

function renameFailures(source: Source, options: OptionsObject): void {
  const skip = options.value('skipOnError')
  if (skip?.isBooleanLiteral({ value: true })) {
    options.rename('skipOnError', "'allow'")
    source.note(options.path, DIFFERENCES.passOnStoreError)
    return
  }
  options.remove('skipOnError')
  if (options.has('redis') && skip === undefined) source.note(options.path, DIFFERENCES.storeErrors)
}

/** `onExceeding`, `onExceeded` and `onBanReach` become one function. */
function renameEvents(source: Source, options: OptionsObject): void {
  const tests = {
    onExceeding: 'decision.allowed',
    onExceeded: '!decision.allowed',
    onBanReach: 'decision.ban?.began',
  }
  const names = Object.keys(tests).filter((name) => options.has(name)) as (keyof typeof tests)[]
  const [first, ...others] = names
  if (first === undefined) return
  const indent = source.indentOf((options.value(first) as NodePath).node)
  const lines = names.map((name) => {
    const given = ['request', "decision.policies[0]?.key ?? ''"]
    const called = call(source, options.value(name) as NodePath, given)
    return `${indent}  if (${tests[name]}) ${called}${source.eol}`
  })
  const text = `(decision, request) => {${source.eol}${lines.join('')}${indent}}`
  options.replace(first, ['onDecision', text])
  options.remove(...others)
}

function renameGlobal(context: Context, options: OptionsObject, place: Place): void {
  const { source } = context
  const value = options.value('global')
  const isOff = value?.isBooleanLiteral({ value: false }) === true
  options.remove('global')
  if (isOff && place !== 'hook') {
    context.isGlobal = false
    source.note(options.path, DIFFERENCES.fastifyGlobal)
    if (isInlineFunction(options.value('allowList'))) {
      source.note(options.path, `skip: add || ${OTHERS}, so that other routes are exempt.`)
    } else options.replace('global', ['skip', `(request) => ${OTHERS}`])
  }
  if (place === 'hook' && !context.isGlobal) options.add(['skip', '() => false'])
}

function noteOthers(source: Source, options: OptionsObject): void {
  if (options.has('groupId')) {
    options.remove('groupId')
    source.note(
      options.path,
      'groupId: routes that share a quota share a hook. const shared = app.rateLimit.hook({ limit, window }), and onRequest: shared in each of them.',
    )
  }
  if (NOT_COUNTED.some((name) => options.has(name))) {
    options.remove(...NOT_COUNTED)
    source.note(options.path, 'refused requests are not counted, so nothing extends a window.')
  }
  const ipv6 = options.value('ipv6Subnet')
  if (ipv6 !== undefined) options.rename('ipv6Subnet')
  const hook = options.value('hook')
  if (hook?.isStringLiteral() && !HOOKS.includes(hook.node.value)) {
    options.remove('hook')
    source.note(options.path, `hook: Sluice runs in ${HOOKS.join(', ')}.`)
  }
  for (const name of options.unknown) {
    if (!['hook', 'limit', 'store'].includes(name)) {
      source.note(options.path, `${name}: there is no such option here.`)
    }
  }
}
