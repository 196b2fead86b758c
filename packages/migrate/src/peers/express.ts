import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { ofRateLimitInfo } from '../decision-fields.ts'
import { DIFFERENCES } from '../differences.ts'
import { durationOf } from '../durations.ts'
import { type FoundOptions, findOptions, typeConstant } from '../find-options.ts'
import { memberOf } from '../functions.ts'
import { Imports, type Use } from '../imports.ts'
import { call, renameFunction, renameKey } from '../option-functions.ts'
import type { OptionsObject } from '../options-object.ts'
import { removeNew } from '../remove.ts'
import type { Source } from '../source.ts'
import { renameHeaders } from './express-headers.ts'
import { renameResponse } from './express-respond.ts'
import { renameStore, replaceOtherStores } from './express-store.ts'
import type { Peer } from './peer.ts'

const TYPES: Readonly<Record<string, string>> = {
  Options: 'RateLimitOptions',
  RateLimitRequestHandler: 'RateLimitHandler',
  RateLimitInfo: 'Decision',
}
/** What its absence means there. */
const DEFAULTS = [
  ['windowMs', 'window', "'1m'"],
  ['limit', 'limit', '5'],
] as const
/** Options that do not exist here: what they do is always so, or is not needed. */
const NOT_NEEDED = ['validate', 'logger', 'requestPropertyName'] as const

export const expressRateLimit: Peer = {
  name: 'express-rate-limit',
  sluice: '@sluice/express',
  migrate(source) {
    const imports = new Imports(source, 'express-rate-limit', '@sluice/express')
    if (!imports.isUsed) return false
    const redis = new Imports(source, 'rate-limit-redis', '')
    const seen = new Set<t.Node>()
    for (const use of imports.uses) replaceName(source, imports, use)
    for (const { path, name } of imports.uses) {
      if (name === 'default' || name === 'rateLimit')
        migrateCall(source, imports, redis, path, seen)
    }
    replaceOtherStores(source, redis)
    replaceInfo(source)
    noteTrustProxy(source)
    noteRest(source, imports.finish())
    redis.finish()
    return true
  },
}

function replaceName(source: Source, imports: Imports, use: Use): void {
  const { path, name } = use
  const type = TYPES[name]
  if (type !== undefined) imports.replace(use, type, true)
  else if (name === 'ipKeyGenerator') {
    imports.replace(use, 'addressKey')
    const [, subnet] = path.parentPath?.isCallExpression() ? path.parentPath.node.arguments : []
    if (subnet?.type === 'BooleanLiteral') source.replace(subnet, '128')
  } else if (name === 'default' || name === 'rateLimit') imports.replace(use, 'rateLimit')
  else if (name === 'MemoryStore' && path.parentPath?.isNewExpression()) imports.drop(use)
}

function migrateCall(
  source: Source,
  imports: Imports,
  redis: Imports,
  path: NodePath,
  seen: Set<t.Node>,
): void {
  const { parentPath } = path
  if (path.key !== 'callee' || !(parentPath?.isCallExpression() || parentPath?.isNewExpression())) {
    return
  }
  source.note(parentPath, DIFFERENCES.window('express-rate-limit'))
  const [given] = parentPath.get('arguments') as NodePath[]
  if (given === undefined) {
    const callee = source.current(path.node)
    source.replace(parentPath.node, `${callee}({ limit: 5, window: '1m', headers: 'legacy' })`)
    return
  }
  if (parentPath.isNewExpression()) removeNew(source, parentPath)
  for (const found of findOptions(source, given, seen)) {
    migrateOptions(source, redis, found)
    found.options.finish()
    typeConstant(source, found, () => imports.local('RateLimitOptions', true))
  }
}

function migrateOptions(source: Source, redis: Imports, found: FoundOptions): void {
  const { options, isWhole, mayHave } = found
  const window = options.value('windowMs')
  if (window !== undefined) options.rename('windowMs', durationOf(source, window, 1))
  for (const name of ['max', 'limit', 'skip']) renameFunction(source, options, name)
  renameKey(source, options, 'keyGenerator')
  renameHeaders(
    source,
    options,
    isWhole && !mayHave('standardHeaders') && !mayHave('legacyHeaders'),
  )
  renameResponse(source, options)
  const isShared = renameStore(source, options, redis)
  renameSettle(source, options)
  renameSubnet(source, options)
  renameFailures(source, options, isShared)
  renameIdentifier(source, options)
  options.remove(...NOT_NEEDED)
  for (const name of options.unknown) {
    if (name !== 'statusCode') source.note(options.path, `${name}: there is no such option here.`)
  }
  if (!isWhole) return
  for (const [name, here, value] of DEFAULTS) {
    const isSet = mayHave(name) || (name === 'limit' && mayHave('max'))
    if (!isSet) options.add([here, value])
  }
}

/** What does not count there is settled here. */
function renameSettle(source: Source, options: OptionsObject): void {
  const failed = options.value('skipFailedRequests')
  const successful = options.value('skipSuccessfulRequests')
  const own = options.value('requestWasSuccessful')
  const test = own ? call(source, own, ['request', 'response']) : 'response.statusCode < 400'
  const request = own ? 'request' : '_request'
  options.remove('skipFailedRequests', 'skipSuccessfulRequests', 'requestWasSuccessful')
  for (const [name, value, costs] of [
    ['skipSuccessfulRequests', successful, '0 : 1'],
    ['skipFailedRequests', failed, '1 : 0'],
  ] as const) {
    if (value === undefined || value.isBooleanLiteral({ value: false })) continue
    options.replace(name, ['settle', `(${request}, response) => (${test} ? ${costs})`])
    source.note(options.path, DIFFERENCES.settle)
  }
}

function renameSubnet(source: Source, options: OptionsObject): void {
  const value = options.value('ipv6Subnet')
  if (value === undefined) return
  if (value.isBooleanLiteral({ value: false })) options.rename('ipv6Subnet', '128')
  else if (value.isNumericLiteral()) options.rename('ipv6Subnet')
  else {
    source.note(
      options.path,
      'ipv6Subnet: ipv6Prefix is a number from 32 to 128, the same for all requests.',
    )
    options.rename('ipv6Subnet')
  }
}

function renameFailures(source: Source, options: OptionsObject, isShared: boolean): void {
  const value = options.value('passOnStoreError')
  if (value?.isBooleanLiteral({ value: true })) {
    options.rename('passOnStoreError', "'allow'")
    source.note(options.path, DIFFERENCES.passOnStoreError)
    return
  }
  options.remove('passOnStoreError')
  if (isShared && value === undefined) source.note(options.path, DIFFERENCES.storeErrors)
}

function renameIdentifier(source: Source, options: OptionsObject): void {
  const value = options.value('identifier')
  if (value === undefined) return
  options.remove('identifier')
  source.note(
    options.path,
    `identifier: to name the policy in the header fields, write policies: [{ name: ${source.original(value.node)}, limit, window }].`,
  )
}

/** `request.rateLimit.resetTime` outside of the options. */
function replaceInfo(source: Source): void {
  source.program.traverse({
    MemberExpression(path) {
      const info = memberOf(path)
      const { property } = path.node
      if (info === undefined || property.type !== 'Identifier' || property.name !== 'rateLimit')
        return
      if (!['used', 'current', 'resetTime'].includes(info.name)) return
      if (source.isReplaced(info.member.node)) return
      const owner = info.member.node as t.MemberExpression
      const text = ofRateLimitInfo(source.original(owner.object))[info.name] as string
      if (info.name === 'resetTime') source.note(path, DIFFERENCES.resetTime)
      source.replace(info.member.node, text)
    },
  })
}

function noteTrustProxy(source: Source): void {
  source.program.traverse({
    CallExpression(path) {
      const [name, value] = path.node.arguments
      if (name?.type !== 'StringLiteral' || name.value !== 'trust proxy') return
      const { callee } = path.node
      const method = callee.type === 'MemberExpression' && callee.property
      const isEnabled = method && method.type === 'Identifier' && method.name === 'enable'
      const isTrue = value?.type === 'BooleanLiteral' && value.value
      if (isEnabled || isTrue) source.note(path, DIFFERENCES.trustProxy)
    },
  })
}

function noteRest(source: Source, names: readonly string[]): void {
  if (names.length === 0) return
  const first = source.program.get('body')[0]
  if (first === undefined) return
  source.note(
    first,
    `express-rate-limit is still used for ${names.join(', ')}, which Sluice has nothing in place of.`,
  )
}
