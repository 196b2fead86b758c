import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { resolved } from '../bindings.ts'
import { DIFFERENCES } from '../differences.ts'
import {
  ELSEWHERE,
  type FoundOptions,
  findOptions,
  leaveUse,
  type Owners,
} from '../find-options.ts'
import {
  functionText,
  isInlineFunction,
  resultsOf,
  setParameters,
  usesParameter,
} from '../functions.ts'
import { callOf, Imports, isTypeUse, type UseCall } from '../imports.ts'
import { addLog, renameNumbers } from '../numbers.ts'
import { call, checkUnknown, renameFunction, renameKey } from '../option-functions.ts'
import type { OptionsObject } from '../options-object.ts'
import type { Source } from '../source.ts'
import { STATUSES } from './express-respond.ts'
import type { Peer } from './peer.ts'
import { renameSettle } from './settle.ts'

const MODULE = 'hono-rate-limiter'
/** The defaults of hono-rate-limiter. */
const DEFAULTS = [
  ['windowMs', 'window', "'1m'"],
  ['limit', 'limit', '5'],
] as const
const NO_KEY =
  'It has no keyGenerator, which it needs. Write key: (c) => … with what identifies a client, or address: (c) => getConnInfo(c).remote.address to count by address.'
const STORE =
  'store: the client of Redis itself takes the place of the store around it, and the prefix of that store is the option prefix: store: client, prefix. Leave store out to count in memory.'
const PROFILES: Readonly<Record<string, string>> = {
  true: "'draft-6'",
  false: 'false',
  "'draft-6'": "'draft-6'",
  "'draft-7'": "'draft-7'",
}

export const honoRateLimiter: Peer = {
  name: MODULE,
  sluice: '@sluice/hono',
  migrate(source: Source) {
    const imports = new Imports(source, MODULE, '@sluice/hono')
    if (!imports.isUsed) return false
    const uses = imports.uses.filter(({ path }) => !isTypeUse(path))
    const calls = uses.flatMap((use) => (use.name === 'rateLimiter' ? (callOf(use) ?? []) : []))
    const owners: Owners = new Set(
      calls.filter(({ call }) => !source.isLeft(call)).map(({ call }) => call.node),
    )
    const seen = new Set<t.Node>()
    for (const each of calls) {
      source.migrate(each.call, () => {
        imports.replace(each.use, 'rateLimit')
        migrateCall(source, each, owners, seen)
      })
    }
    for (const use of uses) {
      if (callOf(use)) continue
      source.migrate(use.path, () => leaveUse(source))
    }
    imports.finish()
    return true
  },
}

function migrateCall(
  source: Source,
  { call: limiter }: UseCall,
  owners: Owners,
  seen: Set<t.Node>,
): void {
  const [given] = limiter.get('arguments') as NodePath[]
  if (!given) source.leave(ELSEWHERE)
  if (limiter.node.typeParameters != null) source.leave('rateLimit takes no types: c is a Context.')
  for (const found of findOptions(source, given, owners, seen)) {
    migrateOptions(source, found, limiter)
    found.options.finish()
  }
}

function migrateOptions(source: Source, found: FoundOptions, limiter: NodePath): void {
  const { options, isWhole, mayHave } = found
  checkOptions(source, options)
  renameNumbers(source, options, 'windowMs', ['limit'], 1, [60_000, 5])
  renameFunction(source, options, 'skip')
  if (isWhole && !mayHave('keyGenerator')) source.leave(NO_KEY)
  renameKey(source, options, 'keyGenerator')
  renameHeaders(source, options, isWhole && !mayHave('standardHeaders'))
  renameResponse(source, options)
  renameSettle(source, options, { given: ['c'], usual: '(c) => (c.res.status < 400 ?' })
  checkUnknown(source, options)
  if (!isWhole) return
  for (const [name, here, value] of DEFAULTS) if (!mayHave(name)) options.add([here, value])
  source.note(limiter, DIFFERENCES.window(MODULE, addLog(source, found, ['limit'], 5)))
  source.note(limiter, DIFFERENCES.retryAfter)
  if (!mayHave('message') && !mayHave('handler')) source.note(limiter, DIFFERENCES.body)
}

/** Leaves the call if an option can't be the same here. */
function checkOptions(source: Source, options: OptionsObject): void {
  for (const name of ['requestPropertyName', 'requestStorePropertyName', 'binding']) {
    if (options.has(name))
      source.leave(`${name}: there is no such option here; the decision is c.var.rateLimit.`)
  }
  if (options.has('store')) {
    source.leave(STORE)
  }
}

function renameHeaders(source: Source, options: OptionsObject, isWhole: boolean): void {
  const given = options.value('standardHeaders')
  if (given === undefined) {
    if (isWhole) options.add(['headers', "'draft-6'"])
    return
  }
  const profile = PROFILES[source.original(given.node).replaceAll('"', "'")]
  if (profile === undefined) source.leave('standardHeaders: headers is a profile, or false.')
  options.replace('standardHeaders', ['headers', profile])
}

/** `handler`, `message` and `statusCode`. */
function renameResponse(source: Source, options: OptionsObject): void {
  const handler = options.value('handler')
  const message = options.value('message')
  const status = options.value('statusCode')
  const code = status ? source.original(status.node) : '429'
  const isOther = !STATUSES.includes(code)
  if (handler !== undefined) {
    options.renameTo('handler', 'respond', handlerText(source, handler))
    options.remove('message')
  } else if (message !== undefined) {
    options.replace('message', ['respond', `(_decision, c) => ${senderOf(source, message, code)}`])
  } else if (isOther) {
    options.replace('statusCode', [
      'respond',
      `(_decision, c) => c.text('Too many requests, please try again later.', ${code})`,
    ])
    return
  }
  if (isOther) options.remove('statusCode')
  else options.rename('statusCode')
}

function senderOf(source: Source, message: NodePath, code: string): string {
  const value = resolved(message)
  const text = source.current(message.node)
  if (value.isStringLiteral() || value.isTemplateLiteral()) return `c.text(${text}, ${code})`
  if (value.isObjectExpression()) return `c.json(${text}, ${code})`
  source.leave('message: respond returns a Response: c.text(…) or c.json(…).')
}

function handlerText(source: Source, handler: NodePath): string {
  const fn = resolved(handler)
  const isKnown =
    fn.isFunction() &&
    !fn.node.params.some((_, i) => i > 0 && usesParameter(fn, i)) &&
    resultsOf(fn).length > 0
  if (!isKnown) {
    source.leave('handler: respond is called with (decision, c), and returns a Response.')
  }
  if (!/\b(429|status|HTTPException|throw)\b/.test(source.original(fn.node.body))) {
    source.note(handler, 'handler: a Response with the status 200 is sent with 429.')
  }
  const count = fn.node.params.length
  if (!isInlineFunction(handler))
    return `(_decision, c) => ${call(source, handler, ['c'].slice(0, count))}`
  if (count === 0) return functionText(source, handler)
  const [first] = fn.node.params
  if (first?.type !== 'Identifier') source.leave('handler: respond is called with (decision, c).')
  setParameters(source, handler, ['_decision', source.original(first)])
  return functionText(source, handler)
}
