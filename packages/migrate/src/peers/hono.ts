import type { NodePath } from '@babel/traverse'
import { resolved } from '../bindings.ts'
import { DIFFERENCES } from '../differences.ts'
import { ELSEWHERE, rewriteOptions } from '../find-options.ts'
import { isInlineFunction, readsMore, resultsOf, setParameters } from '../functions.ts'
import type { Imports } from '../imports.ts'
import { addDefaults, renameNumbers } from '../numbers.ts'
import { call, checkUnknown, renameFunction, renameKey } from '../option-functions.ts'
import type { OptionsObject } from '../options-object.ts'
import type { Source } from '../source.ts'
import { standardProfile } from './express-headers.ts'
import { leavePassedOn, limiterCalls } from './limiter-calls.ts'
import type { Peer } from './peer.ts'
import { DEFAULT_MESSAGE, renameResponse } from './respond.ts'
import { renameSettle } from './settle.ts'

const MODULE = 'hono-rate-limiter'
const NUMBERS = { window: 'windowMs', windowMs: 60_000, limits: ['limit'], limit: 5 }
const NO_KEY =
  'It has no keyGenerator, which it needs. Write key: (c) => … with what identifies a client, or address: (c) => getConnInfo(c).remote.address to count by address.'
const STORE =
  'store: the client of Redis itself takes the place of the store around it, and the prefix of that store is the option prefix: store: client, prefix. Leave store out to count in memory.'
export const honoRateLimiter: Peer = {
  name: MODULE,
  sluice: '@sluice/hono',
  migrate(imports: Imports) {
    const { source } = imports
    const limiters = imports.uses.filter(({ name }) => name === 'rateLimiter')
    const { calls, rewriting } = limiterCalls(imports, limiters)
    for (const { use, call: limiter } of calls) {
      source.migrate(limiter, () => {
        imports.replace(use, 'rateLimit')
        const [given] = limiter.get('arguments') as NodePath[]
        if (!given) return source.leave(ELSEWHERE)
        if (limiter.node.typeParameters != null)
          source.leave('rateLimit takes no types: c is a Context.')
        rewriteOptions(rewriting, given, (options) => migrateOptions(options, limiter))
      })
    }
    leavePassedOn(imports, imports.uses)
    imports.finish()
  },
}

function migrateOptions(options: OptionsObject, limiter: NodePath): void {
  const { source, isWhole, mayHave } = options
  checkOptions(options)
  renameNumbers(options, NUMBERS)
  renameFunction(options, 'skip')
  if (isWhole && !mayHave('keyGenerator')) options.leave(NO_KEY)
  renameKey(options, 'keyGenerator')
  renameHeaders(options, isWhole && !mayHave('standardHeaders'))
  renameResponse(options, {
    ofHandler: (handler) => handlerText(source, handler),
    ofMessage: (message, code) => `(_decision, c) => ${senderOf(source, message, code)}`,
    ofStatus: (code) => `(_decision, c) => c.text(${DEFAULT_MESSAGE}, ${code})`,
  })
  renameSettle(options, { given: ['c'], usual: '(c) => (c.res.status < 400 ?' })
  checkUnknown(options)
  if (!isWhole) return
  source.note(limiter, DIFFERENCES.window(MODULE, addDefaults(options, NUMBERS)))
  source.note(limiter, DIFFERENCES.retryAfter)
  if (!mayHave('message') && !mayHave('handler')) source.note(limiter, DIFFERENCES.body)
}

/** Leaves the call if an option can't be the same here. */
function checkOptions(options: OptionsObject): void {
  for (const name of ['requestPropertyName', 'requestStorePropertyName', 'binding']) {
    if (options.has(name))
      options.leave(`${name}: there is no such option here; the decision is c.var.rateLimit.`)
  }
  if (options.has('store')) options.leave(STORE)
}

function renameHeaders(options: OptionsObject, isWhole: boolean): void {
  const text = options.text('standardHeaders') ?? 'true'
  const profile = text === 'false' ? text : standardProfile(text)
  if (profile === undefined) options.leave('standardHeaders: headers is a profile, or false.')
  options.merge(['standardHeaders'], ['headers', profile], isWhole)
}

function senderOf(source: Source, message: NodePath, code: string): string {
  const value = resolved(message)
  const text = source.current(message.node)
  if (value.isStringLiteral() || value.isTemplateLiteral()) return `c.text(${text}, ${code})`
  if (value.isObjectExpression()) return `c.json(${text}, ${code})`
  source.leave('message: respond returns a Response: c.text(…) or c.json(…).')
}

/** @returns undefined if the handler was rewritten where it is */
function handlerText(source: Source, handler: NodePath): string | undefined {
  const fn = resolved(handler)
  if (!fn.isFunction() || readsMore(fn) || resultsOf(fn).length === 0) {
    source.leave('handler: respond is called with (decision, c), and returns a Response.')
  }
  if (!/\b(429|status|HTTPException|throw)\b/.test(source.original(fn.node.body))) {
    source.note(handler, 'handler: a Response with the status 200 is sent with 429.')
  }
  const count = fn.node.params.length
  if (!isInlineFunction(handler))
    return `(_decision, c) => ${call(source, handler, ['c'].slice(0, count))}`
  const [first] = fn.node.params
  if (first === undefined) return undefined
  if (first.type !== 'Identifier') source.leave('handler: respond is called with (decision, c).')
  setParameters(source, handler, ['_decision', source.original(first)])
  return undefined
}
