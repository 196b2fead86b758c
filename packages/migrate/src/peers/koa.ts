import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { resolved, unwrapped } from '../bindings.ts'
import { DIFFERENCES } from '../differences.ts'
import { durationOf } from '../durations.ts'
import { type FoundOptions, findOptions, typeConstant } from '../find-options.ts'
import { isInlineFunction } from '../functions.ts'
import { Imports } from '../imports.ts'
import { call, onRefusal, renameFunction, renameKey } from '../option-functions.ts'
import type { OptionsObject } from '../options-object.ts'
import type { Source } from '../source.ts'
import type { Peer } from './peer.ts'

/** What its absence means there. */
const DEFAULTS = [
  ['duration', 'window', "'1h'"],
  ['max', 'limit', '2500'],
] as const

const PROXY =
  'without maxIpsCount every client can choose its address, and so its quota. Set it to the number of your proxies.'

export const koaRatelimit: Peer = {
  name: 'koa-ratelimit',
  sluice: '@sluice/koa',
  migrate(source) {
    const imports = new Imports(source, 'koa-ratelimit', '@sluice/koa')
    if (!imports.isUsed) return false
    const seen = new Set<t.Node>()
    for (const use of imports.uses) {
      imports.replace(use, 'rateLimit')
      const { parentPath } = use.path
      if (use.path.key !== 'callee' || !parentPath?.isCallExpression()) continue
      const [given] = parentPath.get('arguments')
      if (given === undefined) continue
      for (const found of findOptions(source, given as NodePath, seen)) {
        migrateOptions(source, found, parentPath)
        found.options.finish()
        typeConstant(source, found, () => imports.local('RateLimitOptions', true))
      }
    }
    noteProxy(source)
    imports.finish()
    return true
  },
}

function migrateOptions(source: Source, found: FoundOptions, limiter: NodePath): void {
  const { options, isWhole, mayHave } = found
  const isOnRedis = renameStore(source, options)
  source.note(limiter, isOnRedis ? DIFFERENCES.log : DIFFERENCES.window('koa-ratelimit'))
  const duration = options.value('duration')
  if (duration !== undefined) options.rename('duration', durationOf(source, duration, 1))
  renameFunction(source, options, 'max')
  noteSkippingId(source, options)
  renameKey(source, options, 'id')
  renameHeaders(options, isWhole && !mayHave('disableHeader'))
  renameResponse(source, options)
  options.rename('namespace')
  renameLists(source, options)
  const limited = options.value('onLimited')
  if (limited !== undefined) options.rename('onLimited', onRefusal(source, limited, ['ctx']))
  if (!isWhole) return
  for (const [name, here, value] of DEFAULTS) if (!mayHave(name)) options.add([here, value])
}

/** @returns whether it counts on Redis */
function renameStore(source: Source, options: OptionsObject): boolean {
  const driver = options.value('driver')
  const db = options.value('db')
  const inner = driver && resolved(driver)
  const isMap = db !== undefined && resolved(db).isNewExpression() && isMapOf(resolved(db))
  options.remove('driver')
  if (inner?.isStringLiteral({ value: 'memory' }) || isMap) {
    options.remove('db')
    return false
  }
  if (inner !== undefined && !inner.isStringLiteral()) {
    source.note(options.path, 'store: leave it out to count in memory, where db is a Map.')
  }
  options.rename('db')
  return db !== undefined
}

function isMapOf({ node }: NodePath): boolean {
  return (
    node.type === 'NewExpression' && node.callee.type === 'Identifier' && node.callee.name === 'Map'
  )
}

function noteSkippingId(source: Source, options: OptionsObject): void {
  const id = options.value('id')
  if (id === undefined || !/\bfalse\b/.test(source.original(id.node))) return
  source.note(
    options.path,
    'id: false does not exempt a request here. Write skip: (ctx) => … for these requests.',
  )
}

function renameHeaders(options: OptionsObject, isWhole: boolean): void {
  const disable = options.value('disableHeader')
  if (disable?.isBooleanLiteral({ value: true })) {
    options.rename('disableHeader', 'false')
    options.remove('headers')
  } else if (options.has('headers')) {
    options.rename('headers', "'legacy'")
    options.remove('disableHeader')
  } else {
    options.remove('disableHeader')
    if (isWhole || options.has('disableHeader')) options.add(['headers', "'legacy'"])
  }
}

/** `errorMessage`, `status` and `throw`. */
function renameResponse(source: Source, options: OptionsObject): void {
  const throws = options.value('throw')
  const message = options.value('errorMessage')
  const status = options.value('status')
  const code = status && source.original(status.node)
  const isOther = code !== undefined && !['429', '503'].includes(code)
  if (throws !== undefined && !throws.isBooleanLiteral({ value: false })) {
    options.rename('throw', "'throw'")
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
}

/** `whitelist` and `blacklist` are functions there. */
function renameLists(source: Source, options: OptionsObject): void {
  const white = options.value('whitelist')
  if (white !== undefined) {
    const isPlain = isInlineFunction(white) && !white.isObjectMethod()
    options.renameTo('whitelist', 'skip', isPlain ? undefined : source.current(white.node))
  }
  const black = options.value('blacklist')
  if (black === undefined) return
  const test = call(source, unwrapped(black), ['ctx']).replace(/\s+/g, ' ')
  options.remove('blacklist')
  source.note(
    options.path,
    `blacklist: list addresses and keys in deny. For a function, add a middleware before this one: async (ctx, next) => ${test} ? ctx.throw(403) : next()`,
  )
}

function noteProxy(source: Source): void {
  source.program.traverse({
    AssignmentExpression(path) {
      const { left, right } = path.node
      const isProxy =
        left.type === 'MemberExpression' &&
        left.property.type === 'Identifier' &&
        left.property.name === 'proxy'
      if (!isProxy || right.type !== 'BooleanLiteral' || !right.value) return
      if (!source.text.includes('maxIpsCount')) source.note(path, PROXY)
    },
  })
}
