import type { NodePath } from '@babel/traverse'
import { memberName, readsOf, resolved, unwrapped } from '../bindings.ts'
import { DIFFERENCES } from '../differences.ts'
import { rewriteOptions } from '../find-options.ts'
import { checkOnce, isInlineFunction } from '../functions.ts'
import type { Imports } from '../imports.ts'
import { addDefaults, renameNumbers } from '../numbers.ts'
import { call, checkUnknown, renameFunction, renameKey } from '../option-functions.ts'
import { OptionsObject } from '../options-object.ts'
import { removeNew } from '../remove.ts'
import type { Source } from '../source.ts'
import { leavePassedOn, limiterCalls } from './limiter-calls.ts'
import type { Peer } from './peer.ts'
import { checkClient } from './redis-client.ts'
import { renamePrefix, validPrefix } from './redis-store.ts'
import { STATUSES } from './respond.ts'

const NUMBERS = { window: 'duration', windowMs: 3_600_000, limits: ['max'], limit: 2500 }

const THROWN =
  'errorMessage: the error has a message of its own. For yours, write respond: (decision, ctx) => ctx.throw(429, message).'
const RESET = 'the field of the reset has whole seconds, in memory too.'
const PROXY =
  'without maxIpsCount every client can choose its address, and so its quota. Set it to the number of your proxies.'

const MODULE = 'koa-ratelimit'
/** The names of the fields there, and here with `headers: 'legacy'`, and their values. */
const FIELDS = {
  remaining: ['X-RateLimit-Remaining', 'decision.remaining'],
  reset: ['X-RateLimit-Reset', 'Math.floor((decision.at + decision.resetMs) / 1000)'],
  total: ['X-RateLimit-Limit', 'decision.limit'],
} as const

export const koaRatelimit: Peer = {
  name: MODULE,
  sluice: '@sluice/koa',
  migrate(imports: Imports) {
    const { source } = imports
    const { calls, rewriting } = limiterCalls(imports, imports.uses)
    leavePassedOn(imports, imports.uses)
    for (const { use, call } of calls) {
      source.migrate(call, () => {
        imports.replace(use, 'rateLimit')
        const [given] = call.get('arguments') as NodePath[]
        if (!given) return source.leave('It has no db, so it fails at the first request.')
        if (call.isNewExpression()) removeNew(source, call)
        const rewrite = (options: OptionsObject) => migrateOptions(options, call)
        rewriteOptions(rewriting, given, rewrite, 'RateLimitOptions')
      })
    }
    noteProxy(source)
    imports.finish()
  },
}

function migrateOptions(options: OptionsObject, limiter: NodePath): void {
  const { source, isWhole, mayHave } = options
  const isOnRedis = renameStore(options, limiter)
  renameNumbers(options, NUMBERS)
  checkId(options)
  renameKey(options, 'id')
  const body = ['errorMessage', 'throw', 'status'].some(mayHave)
  renameResponse(options)
  const prefix = options.value('namespace')
  if (!isOnRedis && prefix) options.rename('namespace', validPrefix(source, prefix))
  renameLists(options)
  const fields = renameHeaders(options, isWhole && !mayHave('disableHeader'))
  renameEvents(options, fields)
  if (!isOnRedis && !options.is('disableHeader', true)) source.note(limiter, RESET)
  checkUnknown(options)
  if (!isWhole) return
  const isLog = addDefaults(options, NUMBERS)
  source.note(limiter, isOnRedis ? DIFFERENCES.log(isLog) : DIFFERENCES.window(MODULE, isLog))
  source.note(limiter, DIFFERENCES.retryAfter)
  if (!body) source.note(limiter, DIFFERENCES.body)
}

/** @returns whether it counts on Redis */
function renameStore(options: OptionsObject, limiter: NodePath): boolean {
  const { source } = options
  const driver = options.value('driver')
  const db = options.value('db')
  const inner = driver && resolved(driver)
  const made = db && resolved(db)
  const isMap =
    made?.isNewExpression() && (made.get('callee') as NodePath).isIdentifier({ name: 'Map' })
  options.remove('driver')
  if (inner?.isStringLiteral({ value: 'memory' }) || isMap) {
    const map = db && unwrapped(db)
    if (map?.isIdentifier() && readsOf(resolved(map)).length > 1) {
      options.leave('db: limiters share the counts in this Map. Here each has counts of its own.')
    }
    if (db !== undefined) checkOnce(source, db, limiter, 'db')
    options.remove('db')
    return false
  }
  if (inner !== undefined && !inner.isStringLiteral()) {
    options.leave('driver: store is a client of Redis, or is left out to count in memory.')
  }
  if (db !== undefined) {
    if (readsOf(options.path).length > 1) {
      options.leave(
        'db: several limiters have these options, and share their counts. Here limiters with different numbers on one store need different prefixes: write a namespace for each.',
      )
    }
    checkClient(source, db)
    renamePrefix(options, 'namespace', ['max', 'duration'])
  }
  options.rename('db')
  return db !== undefined
}

function checkId(options: OptionsObject): void {
  const id = options.value('id')
  if (id === undefined) return
  const fn = resolved(id)
  if (!fn.isFunction() || /\bfalse\b/.test(options.source.original(fn.node))) {
    options.leave(
      'id: false does not exempt a request here. Write skip: (ctx) => … for these requests.',
    )
  }
}

/** @returns the statements that set fields of other names */
function renameHeaders(options: OptionsObject, isWhole: boolean): string[] {
  const given = options.value('headers')
  const isOff = options.is('disableHeader', true)
  if (options.has('disableHeader') && !isOff && !options.is('disableHeader', false)) {
    options.leave('disableHeader: headers is false, or the profile of the fields.')
  }
  const names = isOff || given === undefined ? undefined : namesOf(options.source, given)
  const value = isOff || names !== undefined ? 'false' : "'legacy'"
  options.merge(['disableHeader', 'headers'], ['headers', value], isWhole)
  return names ?? []
}

/** @returns undefined if the names are those of `headers: 'legacy'` */
function namesOf(source: Source, given: NodePath): string[] | undefined {
  const object = resolved(given)
  if (!object.isObjectExpression())
    source.leave('headers: the names of the fields are not seen here.')
  const own = new OptionsObject(source, object)
  const names = Object.entries(FIELDS).map(([name, [here, value]]) => {
    return { name: own.text(name) ?? `'${here}'`, here, value }
  })
  if (names.every(({ name, here }) => name.slice(1, -1) === here)) return undefined
  return names.map(({ name, value }) => `ctx.set(${name}, String(${value}))`)
}

/** `onLimited`, and the fields that have other names. */
function renameEvents(options: OptionsObject, fields: readonly string[]): void {
  const { source } = options
  const limited = options.value('onLimited')
  if (limited === undefined && fields.length === 0) return
  const refused =
    limited === undefined ? [] : [`if (!decision.allowed) ${call(source, limited, ['ctx'])}`]
  const { eol } = source
  const indent = source.indentOf((limited ?? options.path).node)
  const inner = limited === undefined && options.isMultiline ? `${indent}  ` : indent
  const lines = [...fields, ...refused].map((line) => `${inner}  ${line}${eol}`)
  const text = `(decision, ctx) => {${eol}${lines.join('')}${inner}}`
  if (limited === undefined) options.add(['onDecision', text])
  else options.rename('onLimited', text)
}

/** `errorMessage`, `status` and `throw`. */
function renameResponse(options: OptionsObject): void {
  const { source } = options
  const message = options.value('errorMessage')
  const code = options.text('status')
  const isOther = code !== undefined && !STATUSES.includes(code)
  if (options.has('throw') && !options.is('throw', false)) {
    options.rename('throw', "'throw'")
    if (message !== undefined) options.note(THROWN)
    if (isOther) options.leave(`status: with respond: 'throw' it is one of ${STATUSES.join(', ')}.`)
    options.remove('errorMessage')
    options.rename('status')
    return
  }
  options.remove('throw')
  if (message === undefined) {
    if (isOther)
      options.replace('status', ['respond', `(_decision, ctx) => void (ctx.status = ${code})`])
    else options.rename('status')
    return
  }
  const body = `ctx.body = ${source.current(message.node)}`
  const lines = [...(isOther ? [`ctx.status = ${code}`] : []), body]
  const indent = source.indentOf(message.node)
  const text = lines.map((line) => `${indent}  ${line}${source.eol}`).join('')
  options.replace('errorMessage', [
    'respond',
    `(_decision, ctx) => {${source.eol}${text}${indent}}`,
  ])
  if (isOther) options.remove('status')
  else options.rename('status')
}

/** `whitelist` and `blacklist` are functions there. */
function renameLists(options: OptionsObject): void {
  for (const name of ['whitelist', 'blacklist']) {
    if (isEmpty(options.value(name))) options.remove(name)
    else if (name === 'whitelist' && options.has(name)) {
      renameFunction(options, name)
      options.renameTo(name, 'skip')
    } else if (options.has(name)) {
      options.leave(
        'blacklist: deny lists addresses and keys. For a function, add a middleware before this one that calls ctx.throw(403), and leave blacklist out.',
      )
    }
  }
}

/** `(ctx) => {}` */
function isEmpty(path: NodePath | undefined): boolean {
  const fn = path && resolved(path)
  return (
    isInlineFunction(fn) && fn.node.body.type === 'BlockStatement' && fn.node.body.body.length === 0
  )
}

function noteProxy(source: Source): void {
  if (source.text.includes('maxIpsCount')) return
  source.program.traverse({
    AssignmentExpression(path) {
      const left = path.get('left')
      const isProxy = left.isMemberExpression() && memberName(left) === 'proxy'
      const isTrue = path.get('right').isBooleanLiteral({ value: true })
      if (isProxy && isTrue) source.note(path, PROXY)
    },
  })
}
