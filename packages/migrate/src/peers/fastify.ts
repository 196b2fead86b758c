import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { importedFrom, nameOf, unwrapped } from '../bindings.ts'
import { DIFFERENCES } from '../differences.ts'
import { findOptions, typeConstant } from '../find-options.ts'
import { Imports } from '../imports.ts'
import { OptionsObject } from '../options-object.ts'
import type { Source } from '../source.ts'
import { type Context, migrateOptions } from './fastify-options.ts'
import type { Peer } from './peer.ts'

const MODULE = '@fastify/rate-limit'
const TYPES: Readonly<Record<string, string>> = {
  RateLimitPluginOptions: 'RateLimitOptions',
  FastifyRateLimitOptions: 'RateLimitOptions',
  RateLimitOptions: 'FastifyRouteOptions',
}
/** Options that only a file which uses the plugin has, also where it is registered in another. */
const OWN_NAMES = [
  'max',
  'timeWindow',
  'keyGenerator',
  'allowList',
  'errorResponseBuilder',
  'groupId',
]

export const fastifyRateLimit: Peer = {
  name: MODULE,
  sluice: '@sluice/fastify',
  migrate(source) {
    const imports = new Imports(source, MODULE, '@sluice/fastify')
    const routes = routesIn(source)
    const hooks = hooksIn(source)
    if (!imports.isUsed && routes.length === 0 && hooks.length === 0) return false
    const context: Context = { source, imports, seen: new Set(), isGlobal: true }
    for (const use of imports.uses) {
      const type = TYPES[use.name]
      if (type !== undefined) imports.replace(use, type, true)
      else imports.replace(use, 'rateLimit')
      if (type === undefined) migrateRegistration(context, use.path)
    }
    for (const route of routes) migrateRoute(context, route)
    for (const hook of hooks) migrateHook(context, hook)
    noteTrustProxy(source)
    imports.finish()
    return true
  },
}

/** `app.register(plugin, options)`. */
function migrateRegistration(context: Context, path: NodePath): void {
  const { source } = context
  let given = path
  while (given.listKey !== 'arguments' && given.parentPath !== null) given = given.parentPath
  const register = given.parentPath
  if (!register?.isCallExpression() || given.key !== 0 || !isMethod(register, 'register')) return
  source.note(register, DIFFERENCES.window(MODULE))
  const options = register.get('arguments')[1] as NodePath | undefined
  if (options === undefined) {
    source.edits.appendLeft(
      given.node.end as number,
      ", { limit: 1000, window: '1m', headers: 'legacy-delta' }",
    )
    return
  }
  for (const found of findOptions(source, options, context.seen)) {
    migrateOptions(context, found, found.isWhole ? 'plugin' : 'part')
    found.options.finish()
    typeConstant(source, found, () => context.imports.local('RateLimitOptions', true))
  }
}

/** The objects of `config: { rateLimit: { … } }`. */
function routesIn(source: Source): NodePath<t.ObjectExpression>[] {
  const found: NodePath<t.ObjectExpression>[] = []
  source.program.traverse({
    ObjectProperty(path) {
      if (nameOf(path.node.key) !== 'rateLimit') return
      const value = unwrapped(path.get('value') as NodePath)
      if (!value.isObjectExpression()) return
      const outer = path.parentPath.parentPath
      const isConfig = outer?.isObjectProperty() && nameOf(outer.node.key) === 'config'
      if (isConfig && hasOwnName(source, value)) found.push(value)
    },
  })
  return found
}

function hasOwnName(source: Source, path: NodePath<t.ObjectExpression>): boolean {
  const options = new OptionsObject(source, path)
  return OWN_NAMES.some((name) => options.has(name))
}

function migrateRoute(context: Context, path: NodePath<t.ObjectExpression>): void {
  context.source.note(path, DIFFERENCES.fastifyHead)
  for (const found of findOptions(context.source, path, context.seen)) {
    migrateOptions(context, found, 'route')
    found.options.finish()
  }
}

/** `fastify.rateLimit(options)`: as a hook of a route. */
function hooksIn(source: Source): NodePath<t.CallExpression>[] {
  const isFile = source.text.includes(MODULE)
  const found: NodePath<t.CallExpression>[] = []
  source.program.traverse({
    CallExpression(path) {
      if (!isMethod(path, 'rateLimit')) return
      const owner = (path.get('callee') as NodePath<t.MemberExpression>).get('object')
      if (['express-rate-limit', MODULE].some((each) => importedFrom(owner, each))) return
      const [given] = path.get('arguments')
      const value = given && unwrapped(given as NodePath)
      if (isFile || (value?.isObjectExpression() && hasOwnName(source, value))) found.push(path)
    },
  })
  return found
}

function migrateHook(context: Context, path: NodePath<t.CallExpression>): void {
  const callee = path.node.callee as t.MemberExpression
  context.source.edits.appendLeft(callee.property.end as number, '.hook')
  const [given] = path.get('arguments')
  if (given === undefined) {
    const end = (path.node.end as number) - 1
    if (!context.isGlobal) context.source.edits.appendLeft(end, '{ skip: () => false }')
    return
  }
  for (const found of findOptions(context.source, given as NodePath, context.seen)) {
    migrateOptions(context, found, 'hook')
    found.options.finish()
  }
}

function isMethod({ node }: NodePath<t.CallExpression>, name: string): boolean {
  const { callee } = node
  const isMember = callee.type === 'MemberExpression' || callee.type === 'OptionalMemberExpression'
  return isMember && nameOf(callee.property) === name
}

function noteTrustProxy(source: Source): void {
  source.program.traverse({
    ObjectProperty(path) {
      const { key, value } = path.node
      const isTrue = value.type === 'BooleanLiteral' && value.value
      if (nameOf(key) === 'trustProxy' && isTrue) source.note(path, DIFFERENCES.trustProxy)
    },
  })
}
