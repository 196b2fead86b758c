import type { ServerContext } from '@modelcontextprotocol/server'
import type { LimiterOptions, MaybePromise, PolicyOptions } from '@sluice/core'
import {
  checkFunction,
  checkKnown,
  checkObject,
  compilePolicies,
  OPTION_NAMES,
  Policy,
} from '@sluice/core/internal'

/** What is known of a call: `http.authInfo`, its session, its request. */
export type McpCall = ServerContext

/**
 * Returns the key of a call's client, text of at least one character: take it from verified data, such as
 * `http.authInfo`. If it returns something else, or throws, the call is refused.
 */
export type McpKey = (call: McpCall) => MaybePromise<string>

const NOT_HERE = ['unit', 'reserve', 'live', 'concurrent', 'hold', 'lease', 'maxWaiting'] as const
type NotHere = (typeof NOT_HERE)[number]

/** A limit of one tool, or of all resources or prompts. */
export type McpLimit = Omit<PolicyOptions, 'name' | NotHere> & {
  /** Whom it limits. Default: the `key` of the limiter. */
  readonly key?: McpKey | undefined
}

/** A limit of all calls. */
export type McpPolicy = McpLimit & Pick<PolicyOptions, 'name'>

/** `limit` and `window`, or `policies`, limit all calls of tools, reads of resources and gets of prompts together. */
export interface McpLimiterOptions extends Omit<LimiterOptions, 'policies' | NotHere> {
  readonly key: McpKey
  readonly policies?: readonly McpPolicy[] | undefined
  /** Further limits, by the name of a tool. */
  readonly tools?: { readonly [name: string]: McpLimit } | undefined
  /** A further limit, of all reads of resources. */
  readonly resources?: McpLimit | undefined
  /** A further limit, of all gets of prompts. */
  readonly prompts?: McpLimit | undefined
}

const OWN = ['key', 'tools', 'resources', 'prompts']
const isHere = (name: string) => !NOT_HERE.includes(name as NotHere)
const KNOWN = [...OPTION_NAMES.limiter.filter(isHere), ...OWN]
const POLICY = [...OPTION_NAMES.policy.filter(isHere), 'key']
const LIMIT = POLICY.filter((name) => name !== 'name')

/** The policies of some calls, and the key of each. */
export interface CallPolicies {
  readonly policies: Policy[]
  readonly keys: readonly McpKey[]
}

/** @throws SluiceError if an option is unknown, of the wrong type, out of range, or contradicts another */
export function readSettings(options: McpLimiterOptions) {
  checkKnown('', checkObject('options', options, 'the options of createMcpLimiter'), KNOWN)
  const { key, tools = {}, resources, prompts, policies, prefix = 'mcp', ...rest } = options
  checkFunction('key', key, '(call) => text')
  const inline = Object.entries(rest).filter(([name]) => LIMIT.includes(name))
  const all = policies ?? [Object.fromEntries(inline)]
  // From the options as they are, so that messages name `limit`, and not `policies[0].limit`.
  const base = compilePolicies(options, POLICY)
  const compile = (given: readonly McpPolicy[]): CallPolicies => {
    const made = given === all ? base : compilePolicies({ policies: given }, POLICY)
    for (const policy of made) policy.assertStatic()
    return { policies: made, keys: given.map((each) => each.key ?? key) }
  }
  for (const [i, each] of all.entries()) checkKeyOf(`policies[${i}].key`, each)
  const further = (path: string, name: string, limit: McpLimit) => {
    checkKnown(path, checkObject(path, limit, '{ limit, window }'), LIMIT)
    checkKeyOf(`${path}.key`, limit)
    // Wrong ones throw here, under the path that they have in the options.
    new Policy(path, { ...limit, name })
    return compile([...all, { ...limit, name }])
  }
  checkObject('tools', tools, '{ search: { limit, window } }')
  const named = Object.entries(tools).map(
    ([name, limit]) => [name, further(`tools.${name}`, `tool:${name}`, limit)] as const,
  )
  return {
    options: { ...rest, prefix },
    all: compile(all),
    tools: new Map(named),
    resources: resources && further('resources', 'resources', resources),
    prompts: prompts && further('prompts', 'prompts', prompts),
  }
}

function checkKeyOf(option: string, { key }: McpLimit): void {
  if (key !== undefined) checkFunction(option, key, '(call) => text')
}
