// The interfaces of options, with what the reference page says as their documentation.
import { absolute } from '../../addresses.mjs'
import { OPTIONS } from './described.mjs'
import { algorithmsOf, capital, defaultOf, formOf, returned } from './words.mjs'

/** Forms that the type of TypeScript says as well. */
const SAID_BY_TYPE = /^(`|function)/

/** Characters of a line, after ` * `. */
const WIDTH = 95

/** @returns files, each as its path and its text */
export function optionInterfaces() {
  return [limiter(), ofLimiter(), events(), stores(), http(), overload()].map(
    ([file, ...parts]) => [`packages/${file}`, `${HEAD}\n${parts.join('\n\n')}\n`],
  )
}

const HEAD = '// Generated from options/table.ts by "npm run generate". Do not edit.'

/** The options of a policy that the only policy of a limiter lacks, as a type. */
const ONLY_IN_POLICIES = union(
  Object.entries(OPTIONS.policy).filter(([, option]) => option.onlyInPolicies),
)

function limiter() {
  return [
    'core/src/limiter/options.generated.ts',
    `import type { Anchor } from '../algorithms/calendar-window/anchor.ts'
import type { CalendarUnit } from '../algorithms/calendar-window/calendar.ts'
import type { AlgorithmName } from '../algorithms/index.ts'
import type { BanOptions } from './ban.ts'
import type { LiveBounds } from './live-bounds.ts'
import type { Duration } from '../options/duration.ts'
import type { Unit } from '../options/unit.ts'
import type { StoreOption } from '../stores/resolve.ts'
import type { StoreMode } from '../stores/store.ts'`,
    body(
      'The options of one policy: a limit per window, or on requests in progress.',
      'PolicyOptions',
      {
        ...OPTIONS.policy,
        ...OPTIONS.concurrency,
      },
    ),
    body(
      'Where a limiter counts, and what it does if a remote store is slow or down.',
      'StoreOptions<M extends StoreMode = StoreMode>',
      OPTIONS.store,
    ),
  ]
}

/** Beside what decisions need, which those of policies must not import. */
function ofLimiter() {
  return [
    'core/src/limiter/limiter-options.generated.ts',
    `import type { StoreMode } from '../stores/store.ts'
import type { EventOptions } from './event-options.generated.ts'
import type { PolicyOptions, StoreOptions } from './options.generated.ts'`,
    body(
      'The options of `createLimiter`: those of one policy, or several `policies` that must all admit.',
      `LimiterOptions<M extends StoreMode = StoreMode> extends Omit<PolicyOptions, ${ONLY_IN_POLICIES}>, StoreOptions<M>, EventOptions`,
      policies('PolicyOptions'),
    ),
  ]
}

function events() {
  return [
    'core/src/limiter/event-options.generated.ts',
    "import type { ThresholdEvent } from '../events.ts'\nimport type { Decision } from './decision.ts'",
    body(
      'How a limiter reports what it does. Without a framework, there is no request.',
      'EventOptions<Request = void>',
      OPTIONS.events,
    ),
  ]
}

function stores() {
  return [
    'core/src/stores/options.generated.ts',
    body('The options of a memory store.', 'MemoryStoreOptions', OPTIONS.memoryStore),
    body('The options of a Redis store.', 'RedisStoreOptions', OPTIONS.redisStore),
    body('The options of a PostgreSQL store.', 'PostgresStoreOptions', OPTIONS.postgresStore),
    body('The options of a MySQL or MariaDB store.', 'MysqlStoreOptions', OPTIONS.mysqlStore),
    body('The options of a DynamoDB store.', 'DynamodbStoreOptions', OPTIONS.dynamodbStore),
    body('The options of an SQLite store.', 'SqliteStoreOptions', OPTIONS.sqliteStore),
  ]
}

function http() {
  const ofPolicy = Object.entries({ ...OPTIONS.policy, ...OPTIONS.concurrency })
  const ofRequest = ofPolicy.filter(([, option]) => option.perRequest)
  const inPolicies = Object.entries({ ...OPTIONS.requestPolicy, ...OPTIONS.http })
    .filter(([, option]) => option.inPolicies !== undefined)
    .map(([name, option]) => [name, { ...option, default: undefined, unset: option.inPolicies }])
  return [
    'http/src/options/options.generated.ts',
    `import type { Decision, Duration, EventOptions, MaybePromise, PolicyOptions } from '@sluice/core'
import type { Anchor, StoreOptions } from '@sluice/core/internal'
import type { CalendarUnit } from '@sluice/core/store'
import type { HeaderProfile } from '../fields/profiles/index.ts'
import type { KeyOption, UserOption } from '../keys/key-reader.ts'
import type { TrustProxyOption } from '../keys/trust-proxy.ts'
import type { SettleOption } from '../settlement/settlement.ts'`,
    body(
      'The options of one policy, including those that read a request.',
      `RequestPolicyOptions<Request, Response> extends Omit<PolicyOptions, ${union(ofRequest)}>`,
      Object.fromEntries([...ofRequest, ...inPolicies]),
      true,
    ),
    body(
      'The options of `rateLimit`, the same for every framework: those of one policy, or several `policies`.',
      `RateLimitOptions<Request, Response> extends Omit<RequestPolicyOptions<Request, Response>, ${ONLY_IN_POLICIES} | ${union(inPolicies)}>, StoreOptions, EventOptions<Request>`,
      {
        ...OPTIONS.requestPolicy,
        ...OPTIONS.http,
        ...policies('RequestPolicyOptions<Request, Response>'),
      },
      true,
    ),
  ]
}

function overload() {
  return [
    'http/src/overload/options.generated.ts',
    `import type { Duration } from '@sluice/core'

/** A class of requests. */
export interface ClassOptions {
  /**
   * The share of places, and of requests that begin, that is reserved for this class while it needs it: 0 to 1.
   * The shares of all classes add up to at most 1. Default: 0.
   */
  reserve?: number | undefined
}

/** How many requests may wait, and for how long. */
export interface QueueOptions {
  /** The most requests that wait, 1 to 100,000. Default: 200. */
  max?: number | undefined
  /** The longest wait, 1 ms to 1 minute. Default: \`'1s'\`. */
  maxWait?: Duration | undefined
}`,
    body(
      'The options of `shedLoad` besides those that it shares with `rateLimit`.',
      'OverloadOptions<Request, Class extends string>',
      OPTIONS.overload,
    ),
  ]
}

/** The option of several policies, of this type each. */
function policies(typescript) {
  const { policies: option } = OPTIONS.policies
  return {
    policies: { ...option, type: { ...option.type, typescript: `readonly ${typescript}[]` } },
  }
}

function union(rows) {
  return rows.map(([name]) => `'${name}'`).join(' | ')
}

/** @param hasRequest whether options can be functions of the request */
function body(comment, head, options, hasRequest = false) {
  const members = Object.entries(options).map(([name, option]) => {
    const { typescript } = option.type
    const perRequest = hasRequest && option.perRequest
    const type = perRequest
      ? `${typescript} | ((request: Request, key: string) => MaybePromise<${perRequest.typescript ?? typescript}>)`
      : typescript
    return `${documentation(name, option, perRequest)}\n  ${name}?: ${orUndefined(type)}`
  })
  return `/** ${comment} */\nexport interface ${head} {\n${members.join('\n')}\n}`
}

/** Allows undefined too, for `exactOptionalPropertyTypes`: `store: url ? new Redis(url) : undefined`. */
function orUndefined(type) {
  if (/\bundefined\b/.test(type)) return type
  return /^\((?!\()/.test(type) ? `(${type}) | undefined` : `${type} | undefined`
}

function documentation(name, option, perRequest) {
  const sentences = [option.description, algorithmsOf(name)]
  if (!SAID_BY_TYPE.test(option.type.form)) sentences.push(`${capital(formOf(option))}.`)
  if (perRequest)
    sentences.push(`Or a function of the request and its key that returns ${returned(option)}.`)
  sentences.push(
    option.required ? `Required ${option.required}.` : `Default: ${defaultOf(name, option)}.`,
  )
  const lines = wrapped(readAnywhere(sentences.filter(Boolean).join(' ')))
  if (lines.length === 1 && lines[0].length < WIDTH - 4) return `  /** ${lines[0]} */`
  return ['  /**', ...lines.map((line) => `   * ${line}`), '   */'].join('\n')
}

/** The text with the addresses of what it links to, which an editor can open. */
function readAnywhere(text) {
  return text.replace(/\]\(([^)]+)\)/g, (_, link) => `](${absolute('docs', link)})`)
}

function wrapped(text) {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = `${lines.at(-1)} ${word}`.trim()
    if (line.length <= WIDTH) lines[lines.length - 1] = line
    else lines.push(word)
  }
  return lines
}
