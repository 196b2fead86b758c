import type { NodePath } from '@babel/traverse'
import { memberName, readsOf } from '../bindings.ts'
import { DIFFERENCES } from '../differences.ts'
import { type Owners, type Rewriting, rewriteOptions } from '../find-options.ts'
import { memberOf } from '../functions.ts'
import type { Imports, Use, UseCall } from '../imports.ts'
import { addDefaults, constantOf, defaultsText, renameNumbers } from '../numbers.ts'
import { checkUnknown, renameFunction, renameKey } from '../option-functions.ts'
import type { OptionsObject } from '../options-object.ts'
import { removeNew } from '../remove.ts'
import type { Source } from '../source.ts'
import { checkAddress, replaceAddressKey } from './express-address.ts'
import { renameHeaders } from './express-headers.ts'
import { replaceInfo } from './express-info.ts'
import { renameResponses } from './express-respond.ts'
import { renameStore } from './express-store.ts'
import {
  isForeignType,
  isFreeType,
  isLimiter,
  isTypeOfMigrated,
  mixed,
  TYPES,
} from './express-types.ts'
import { leavePassedOn, limiterCalls } from './limiter-calls.ts'
import type { Peer } from './peer.ts'
import { renameSettle } from './settle.ts'

const MODULE = 'express-rate-limit'
const NUMBERS = { window: 'windowMs', windowMs: 60_000, limits: ['max', 'limit'], limit: 5 }
/** Options that do not exist here: what they do is always so, or is not needed. */
const NOT_NEEDED = ['validate', 'logger', 'requestPropertyName'] as const
const LOGGER =
  "logger: warnings are process warnings of Node here, with codes. For yours, write process.on('warning', (warning) => …)."

const ALONE =
  'Types of limiters that are made in other files stay, since these may stay. When they are rewritten: Options is RateLimitOptions of @sluice/express, RateLimitRequestHandler is RateLimitHandler.'

export const expressRateLimit: Peer = {
  name: MODULE,
  sluice: '@sluice/express',
  migrate(imports: Imports) {
    const { source } = imports
    const limiters = imports.uses.filter(({ name }) => isLimiter(name))
    const { calls, rewriting } = limiterCalls(imports, limiters)
    const { owners } = rewriting
    const inTheWay = imports.uses.find(
      (use) =>
        isForeignType(imports, use) ||
        (owners.size < calls.length && isFreeType(imports, use, owners)),
    )
    for (const { use, call } of calls) {
      source.migrate(call, () => {
        if (inTheWay !== undefined) source.leave(mixed(source, inTheWay))
        checkMethods(source, call)
        imports.replace(use, 'rateLimit')
        migrateCall(rewriting, call)
      })
    }
    const [type] = calls.length === 0 ? imports.uses.filter(({ name }) => name in TYPES) : []
    if (type !== undefined) source.migrate(type.path, () => source.leave(ALONE))
    leavePassedOn(imports, limiters)
    for (const use of imports.uses) replaceName(source, imports, use, owners)
    replaceInfo(source)
    noteTrustProxy(source)
    noteRest(source, imports.finish())
  },
}

type Call = UseCall['call']

const METHODS: Readonly<Record<string, string>> = { resetKey: 'reset', getKey: 'peek' }

/** The methods of a limiter, which return at once there, and take the key as it was. */
function checkMethods(source: Source, call: Call): void {
  for (const use of readsOf(call)) {
    const name = memberOf(use)?.name ?? ''
    const here = METHODS[name]
    if (here !== undefined) {
      source.leave(
        `${name}: limiter.limiter.${here}(key) takes its place. It returns a promise, and the result of a key function is \`key:\${text}\` there.`,
      )
    }
  }
}

/** Replaces a use that is not a call of the limiter. */
function replaceName(source: Source, imports: Imports, use: Use, owners: Owners): void {
  const { path, name } = use
  if (source.isLeft(path) || imports.isDropped(use)) return
  const type = TYPES[name]
  if (type !== undefined) {
    if (isTypeOfMigrated(source, imports, path, owners)) imports.replace(use, type, true)
  } else if (name === 'ipKeyGenerator') {
    const isOfMigrated = path.findParent((each) => owners.has(each.node)) !== null
    if (isOfMigrated || source.left.length === 0) replaceAddressKey(source, imports, use)
  } else if (isLimiter(name) && source.left.length === 0) imports.replace(use, 'rateLimit')
}

function migrateCall(rewriting: Rewriting, call: Call): void {
  const { source } = rewriting
  const [given] = call.get('arguments') as NodePath[]
  if (given === undefined) {
    source.note(call, DIFFERENCES.window(MODULE, true))
    source.note(call, DIFFERENCES.retryAfter)
    source.note(call, DIFFERENCES.body)
    const callee = source.current(call.node.callee)
    source.replace(call.node, `${callee}(${defaultsText(NUMBERS, "'legacy'")})`)
    return
  }
  if (call.isNewExpression()) removeNew(source, call)
  const rewrite = (options: OptionsObject) => migrateOptions(rewriting.imports, call, options)
  rewriteOptions(rewriting, given, rewrite, 'RateLimitOptions')
}

function migrateOptions(imports: Imports, call: Call, options: OptionsObject): void {
  const { source } = imports
  const { isWhole, mayHave } = options
  checkOptions(options)
  renameNumbers(options, NUMBERS)
  renameFunction(options, 'skip')
  checkAddress(options)
  renameKey(options, 'keyGenerator')
  const sendsLegacy = isWhole && !mayHave('legacyHeaders') && !mayHave('headers')
  renameHeaders(options, sendsLegacy, sendsLegacy && !mayHave('standardHeaders'))
  const isOther = ['handler', 'message', 'statusCode'].some(mayHave)
  renameResponses(options)
  const isShared = renameStore(imports, options, call)
  renameSettle(options, {
    given: ['request', 'response'],
    usual: '(_request, response) => (response.statusCode < 400 ?',
  })
  renameSubnet(options)
  renameFailures(options, isShared)
  renameIdentifier(options)
  if (options.has('logger')) options.note(LOGGER)
  options.remove(...NOT_NEEDED)
  if (constantOf(options.value('delayMs')) === 0) options.remove('delayMs')
  checkUnknown(options)
  if (!isWhole) return
  const isLog = addDefaults(options, NUMBERS)
  source.note(call, DIFFERENCES.window(MODULE, isLog))
  source.note(call, DIFFERENCES.retryAfter)
  if (!isOther) source.note(call, DIFFERENCES.body)
}

/** Leaves the call if an option can't be the same here. */
function checkOptions(options: OptionsObject): void {
  const property = options.value('requestPropertyName')
  if (property !== undefined && !property.isStringLiteral({ value: 'rateLimit' })) {
    options.leave('requestPropertyName: here the decision is always request.rateLimit.')
  }
  if (['max', 'limit'].some((name) => constantOf(options.value(name)) === 0)) {
    options.leave(`A limit of 0 refuses everything here. Before ${MODULE} 7 it means no limit.`)
  }
}

function renameSubnet(options: OptionsObject): void {
  const value = options.value('ipv6Subnet')
  if (value === undefined) return
  if (options.is('ipv6Subnet', false)) options.rename('ipv6Subnet', '128')
  else if (value.isNumericLiteral()) options.rename('ipv6Subnet')
  else
    options.leave('ipv6Subnet: ipv6Prefix is a number from 32 to 128, the same for all requests.')
}

function renameFailures(options: OptionsObject, isShared: boolean): void {
  const value = options.value('passOnStoreError')
  if (options.is('passOnStoreError', true)) {
    options.rename('passOnStoreError', "'allow'")
    options.note(DIFFERENCES.passOnStoreError)
    return
  }
  if (value !== undefined && !value.isBooleanLiteral()) {
    options.leave("passOnStoreError: onStoreError is 'allow', 'deny' or 'local'.")
  }
  if (isShared && value !== undefined) {
    options.rename('passOnStoreError', "'deny'")
    options.note(DIFFERENCES.closed)
    return
  }
  options.remove('passOnStoreError')
  if (isShared) options.note(DIFFERENCES.storeErrors)
}

function renameIdentifier(options: OptionsObject): void {
  const name = options.text('identifier')
  if (name === undefined) return
  options.remove('identifier')
  options.note(
    `identifier: to name the policy in the header fields, write policies: [{ name: ${name}, limit, window }].`,
  )
}

function noteTrustProxy(source: Source): void {
  source.program.traverse({
    CallExpression(path) {
      const [name, value] = path.get('arguments') as NodePath[]
      if (!name?.isStringLiteral({ value: 'trust proxy' })) return
      const callee = path.get('callee')
      const isEnabled = callee.isMemberExpression() && memberName(callee) === 'enable'
      const isTrue = value?.isBooleanLiteral({ value: true })
      if (isEnabled || isTrue) source.note(path, DIFFERENCES.trustProxy)
    },
  })
}

function noteRest(source: Source, names: readonly string[]): void {
  const others = names.filter((name) => !isLimiter(name) && !(name in TYPES))
  if (source.left.length > 0) return
  if (others.length === 0) return
  const first = source.program.get('body')[0]
  if (first === undefined) return
  source.note(
    first,
    `express-rate-limit is still used for ${others.join(', ')}, which Sluice has nothing in place of.`,
  )
}
