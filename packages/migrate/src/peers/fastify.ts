import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { importedFrom, nameOf, propertyOf, resolved, unwrapped, wrapped } from '../bindings.ts'
import { DIFFERENCES } from '../differences.ts'
import { rewriteOptions, rewritingOf } from '../find-options.ts'
import type { Imports, Use } from '../imports.ts'
import { defaultsText } from '../numbers.ts'
import { OptionsObject } from '../options-object.ts'
import type { Parsed } from '../parse.ts'
import type { Source } from '../source.ts'
import { type Context, migrateOptions, NUMBERS } from './fastify-options.ts'
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
  isFoundByOptions: true,
  migrate(imports: Imports) {
    const { source } = imports
    const routes = routesIn(source)
    const hooks = hooksIn(source)
    const checks = methodsIn(source, 'createRateLimit')
    const plugins = imports.uses.filter(({ name }) => !(name in TYPES))
    const own = [...plugins.map(({ path }) => path), ...routes, ...hooks, ...checks]
    noteOthers(source, routes)
    if (own.length === 0) return
    const registrations = new Map(plugins.map((use) => [registrationOf(use.path), use]))
    const rewriting = rewritingOf(imports, [...registrations.keys(), ...hooks, ...routes])
    const context: Context = { ...rewriting, isGlobal: isGlobalIn(source.files) }
    source.migrateJointly(
      MODULE,
      new Map<NodePath, () => void>([
        ...[...registrations].map(
          ([path, use]) => [path, () => migrateRegistration(context, path, use)] as const,
        ),
        ...routes.map((route) => [route, () => migrateRoute(context, route)] as const),
        ...hooks.map((hook) => [hook, () => migrateHook(context, hook)] as const),
        ...checks.map((check) => [check, () => source.leave(CHECK)] as const),
      ]),
    )
    if (source.isStaying(MODULE)) return
    for (const use of imports.uses) {
      const type = TYPES[use.name]
      if (type !== undefined && !imports.isDropped(use)) imports.replace(use, type, true)
    }
    noteTrustProxy(source)
    imports.finish()
  },
}

const SET_LATER =
  'rateLimit: whether the plugin reads options that are set later depends on the order of hooks. Write them where the route is declared.'
const CHECK =
  'createRateLimit: app.rateLimit takes its place. Its consume(key) returns a decision, which is a refusal if allowed is false.'

/** `app.register(plugin, options)`; the use itself if it is somewhere else. */
function registrationOf(path: NodePath): NodePath {
  let given = path
  while (given.listKey !== 'arguments' && given.parentPath !== null) given = given.parentPath
  const register = given.parentPath
  const isRegistered =
    register?.isCallExpression() && given.key === 0 && isMethod(register, 'register')
  return isRegistered ? register : path
}

function migrateRegistration(context: Context, register: NodePath, use: Use): void {
  const { source, imports } = context
  if (register === use.path || !register.isCallExpression()) {
    source.leave(
      'How the plugin is registered is not seen here. Where it is, register rateLimit of @sluice/fastify, with limit for max and window for timeWindow.',
    )
  }
  imports.replace(use, 'rateLimit')
  const [plugin, options] = register.get('arguments') as NodePath[]
  if (options === undefined) {
    source.note(register, DIFFERENCES.window(MODULE, true))
    source.note(register, DIFFERENCES.retryAfter)
    source.note(register, DIFFERENCES.fastifyBody)
    source.note(register, DIFFERENCES.fastifyUnknown)
    const end = plugin?.node.end as number
    source.edits.appendLeft(end, `, ${defaultsText(NUMBERS, "'legacy-delta'")}`)
    return
  }
  const rewrite = (options: OptionsObject) =>
    migrateOptions(context, options, options.isWhole ? 'plugin' : 'part')
  rewriteOptions(context, options, rewrite, 'RateLimitOptions')
}

/** The values of `config: { rateLimit: … }`: objects, constants of the file, and what is made elsewhere. */
function routesIn(source: Source): NodePath[] {
  const found: NodePath[] = []
  const isOfPlugin = source.files.some(({ text }) => text.includes(MODULE))
  source.program.traverse({
    ObjectProperty(path) {
      if (nameOf(path.node.key) !== 'rateLimit' || !isConfig(path.parentPath)) return
      const value = unwrapped(path.get('value') as NodePath)
      const object = resolved(value)
      const isOwn = object.isObjectExpression()
        ? hasOwnName(source, object)
        : isOfPlugin && !isNone(value)
      if (isOwn) found.push(value)
    },
  })
  return found
}

/** `false`, `true`, `undefined`, `null` */
function isNone(path: NodePath): boolean {
  return path.isBooleanLiteral() || path.isNullLiteral() || path.isIdentifier({ name: 'undefined' })
}

/** `config: { … }`, `route.config = { … }` */
function isConfig(path: NodePath): boolean {
  const { parentPath } = wrapped(path)
  if (parentPath?.isObjectProperty()) return nameOf(parentPath.node.key) === 'config'
  if (!parentPath?.isAssignmentExpression()) return false
  const { left } = parentPath.node
  return left.type === 'MemberExpression' && nameOf(left.property) === 'config'
}

/** Options of a route, perhaps, in an object of which it is not seen what it is for. */
function noteOthers(source: Source, routes: readonly NodePath[]): void {
  source.program.traverse({
    ObjectProperty(path) {
      const value = unwrapped(path.get('value') as NodePath)
      const isOptions = nameOf(path.node.key) === 'rateLimit' && value.isObjectExpression()
      if (!isOptions || routes.includes(value)) return
      if (!new OptionsObject(source, value).has('timeWindow')) return
      source.noteLeft(path, OTHERS)
    },
  })
}

const OTHERS =
  'If these are options of a route for @fastify/rate-limit, write limit for max and window for timeWindow.'

function hasOwnName(source: Source, path: NodePath<t.ObjectExpression>): boolean {
  const options = new OptionsObject(source, path)
  return OWN_NAMES.some((name) => options.has(name))
}

function migrateRoute(context: Context, path: NodePath): void {
  const { source } = context
  if (!path.parentPath?.parentPath?.parentPath?.isObjectProperty()) source.leave(SET_LATER)
  source.note(path, DIFFERENCES.fastifyRoute)
  const rewrite = (options: OptionsObject) => migrateOptions(context, options, 'route')
  rewriteOptions(context, path, rewrite, 'FastifyRouteOptions')
}

/** `fastify.rateLimit(options)`: as a hook of a route. */
function hooksIn(source: Source): NodePath<t.CallExpression>[] {
  const isFile = source.text.includes(MODULE)
  return methodsIn(source, 'rateLimit').filter((path) => {
    const owner = (path.get('callee') as NodePath<t.MemberExpression>).get('object')
    if (['express-rate-limit', MODULE].some((each) => importedFrom(owner, each))) return false
    const [given] = path.get('arguments')
    const value = given && unwrapped(given as NodePath)
    return isFile || (value?.isObjectExpression() && hasOwnName(source, value))
  })
}

/** The calls of a method of this name. */
function methodsIn(source: Source, name: string): NodePath<t.CallExpression>[] {
  const found: NodePath<t.CallExpression>[] = []
  source.program.traverse({
    CallExpression(path) {
      if (isMethod(path, name)) found.push(path)
    },
  })
  return found
}

const PLUGIN =
  'Whether the plugin has global: false decides what this has to say. Name the file that registers it too.'

function migrateHook(context: Context, path: NodePath<t.CallExpression>): void {
  if (context.isGlobal === undefined) context.source.leave(PLUGIN)
  const callee = path.node.callee as t.MemberExpression
  context.source.edits.appendLeft(callee.property.end as number, '.hook')
  const [given] = path.get('arguments')
  if (given === undefined) {
    const end = (path.node.end as number) - 1
    if (context.isGlobal === false) context.source.edits.appendLeft(end, '{ skip: () => false }')
    return
  }
  const rewrite = (options: OptionsObject) => migrateOptions(context, options, 'hook')
  rewriteOptions(context, given as NodePath, rewrite)
}

/** Whether the plugin limits all routes; undefined: where it is registered is not seen. */
function isGlobalIn(files: readonly Parsed[]): boolean | undefined {
  let isGlobal: boolean | undefined
  for (const { text, program } of files) {
    if (!text.includes(MODULE) && !text.includes('@sluice/fastify')) continue
    program.traverse({
      CallExpression(path) {
        if (!isMethod(path, 'register')) return
        const [plugin, options] = path.get('arguments') as NodePath[]
        const root = plugin && rootOf(plugin)
        const isPlugin =
          root !== undefined &&
          (importedFrom(root, MODULE) !== undefined ||
            importedFrom(root, '@sluice/fastify') !== undefined)
        if (!isPlugin) return
        const object = options && resolved(options)
        const global = object && propertyOf(object, 'global')
        const skip = object && propertyOf(object, 'skip')
        const isOff =
          global?.isBooleanLiteral({ value: false }) ||
          skip?.toString().includes('config.rateLimit')
        isGlobal = (isGlobal ?? true) && !isOff
      },
    })
  }
  return isGlobal
}

/** `plugin` of `plugin as any`, and of `plugin.default`. */
function rootOf(path: NodePath): NodePath {
  const inner = unwrapped(path)
  return inner.isMemberExpression() && !inner.get('object').isCallExpression()
    ? rootOf(inner.get('object'))
    : inner
}

function isMethod({ node }: NodePath<t.CallExpression>, name: string): boolean {
  const { callee } = node
  const isMember = callee.type === 'MemberExpression' || callee.type === 'OptionalMemberExpression'
  return isMember && nameOf(callee.property) === name
}

function noteTrustProxy(source: Source): void {
  source.program.traverse({
    ObjectProperty(path) {
      const isTrue = path.get('value').isBooleanLiteral({ value: true })
      if (nameOf(path.node.key) === 'trustProxy' && isTrue)
        source.note(path, DIFFERENCES.trustProxy)
    },
  })
}
