import type { PolicyDecision } from '@sluice/core'
import type { Policy } from '@sluice/core/internal'
import { MAX_WAIT_SECONDS } from '../fields/field-state.ts'
import { policyText } from '../fields/policy-texts.ts'
import type { CompiledOptions } from '../options/compile-options.ts'
import { PROBLEM_MEDIA_TYPE, problemOf } from '../refusal/refusal.ts'
import type { Components } from './components.ts'

type Options = CompiledOptions<never, never>
/** What is read of the options of a limiter. */
export type Limit = Pick<
  Options,
  | 'access'
  | 'adapter'
  | 'bans'
  | 'dryRun'
  | 'failsClosed'
  | 'policies'
  | 'profile'
  | 'respond'
  | 'statusCode'
> & { readonly rules: readonly Rule[] }
type Rule = Pick<Options['rules'][number], 'policies' | 'place' | 'cost' | 'settle'>

/** Printable ASCII, as in fields and in the names of policies. */
const text = (maxLength: number) => ({ type: 'string', maxLength, pattern: '^[ -~]*$' })
const integer = (minimum: number, maximum: number) =>
  ({ type: 'integer', format: 'int32', minimum, maximum }) as const

/** What may refuse a request: a policy, the list `deny`, or a store that fails. */
export function refusersOf({ access, dryRun, failsClosed, policies, respond }: Limit) {
  return {
    policy: !dryRun && respond !== 'continue' && policies.some(mayRefuse),
    list: !dryRun && access?.denies === true,
    failure: !dryRun && failsClosed,
  }
}

function mayRefuse({ enforced, live }: Policy): boolean {
  return enforced > 0 || live !== undefined
}

/** The fields that the profile writes about these policies: not each is written about each unit. */
export function fieldsOf(limit: Limit, components: Components): Record<string, object> {
  const { dryRun, policies, profile } = limit
  const fields: Record<string, object> = {}
  const shown = policies.filter((each) => !dryRun && (profile.showsDryRuns || mayRefuse(each)))
  const state = shown.map(({ name, unit, limit = 1, windowMs }) => {
    const numbers = { limit, remaining: limit, windowMs, resetMs: 0, effectiveMs: 0, at: 0 }
    return { name, unit, key: '', ...numbers } as PolicyDecision
  })
  const texts = state.map((policy) => policyText(policy))
  let hasUsage = false
  for (const group of profile.groups) {
    const subject = group.usage
      ? 'What is left of the rate limit'
      : 'The policies of the rate limit'
    const description = `${subject}, in the form of ${profile.name}.`
    group.write({ policies: state, texts, violated: [], charges: [] }, (field) => {
      // Spectral's rule reads names by their case, and accepts one form of the usage, not two.
      const name = group.usage && hasUsage ? field.toLowerCase() : field
      fields[name] = components.refer('headers', name, { description, schema: text(8192) })
    })
    hasUsage ||= group.usage
  }
  return fields
}

/** The fields of a refusal besides those of the policies. */
export function waitFieldsOf({ profile }: Limit, components: Components): Record<string, object> {
  const wait = {
    description: 'The time to wait before the next request, in seconds.',
    schema: integer(1, MAX_WAIT_SECONDS),
  }
  const others = profile.waitFields.map(({ name }) => {
    const description = 'What the SDKs of model APIs read beside Retry-After.'
    return [name, components.refer('headers', name, { description, schema: text(32) })]
  })
  const name = 'Retry-After'
  return { [name]: components.refer('headers', name, wait), ...Object.fromEntries(others) }
}

/**
 * The response of a refusal: without content where the application sends its own.
 * @param other the status of a refusal that is none of the limit's: 429 of a ban, where limits have another one
 */
export function refusalOf(
  limit: Limit,
  headers: object,
  components: Components,
  other?: 403 | 429 | 503,
): object {
  const { adapter, bans, policies, profile, respond, rules, statusCode } = limit
  const status = other ?? statusCode
  const kinds = other === 429 ? [true] : other === undefined && bans ? [false, true] : [false]
  const problems = kinds.map((banned) => problemOf({ status, banned }))
  const [{ title, type }] = problems as [ReturnType<typeof problemOf>]
  const namesPolicies = other !== 403 && other !== 503 && type !== 'about:blank'
  const isOfLimit = other === undefined && namesPolicies
  const quotas = isOfLimit ? rules.flatMap((rule) => quotaText(rule) ?? []) : []
  const description = quotas.length > 0 ? `${title}: ${quotas.join(', ')}.` : `${title}.`
  const name = status === 429 && other === undefined ? 'RateLimited' : title.replace(/ /g, '')
  const isOwn = respond === 'throw' ? adapter.toThrown === undefined : typeof respond === 'function'
  const oneOf = (texts: string[]) => ({ type: 'string', enum: [...new Set(texts)] })
  const error = profile.errorOf?.(title, undefined, 1)
  const members = Object.entries(error ?? {}).map(([member, value]) => {
    return [member, typeof value === 'string' ? text(256) : { enum: [value] }]
  })
  const schema = {
    type: 'object',
    required: ['type', 'title', 'status'],
    properties: {
      type: oneOf(problems.map((problem) => problem.type)),
      title: oneOf(problems.map((problem) => problem.title)),
      status: { ...integer(status, status), enum: [status] },
      ...(namesPolicies && {
        'violated-policies': { type: 'array', maxItems: policies.length, items: text(128) },
      }),
      ...(error && { error: { type: 'object', properties: Object.fromEntries(members) } }),
    },
  }
  const content = isOwn
    ? undefined
    : { [PROBLEM_MEDIA_TYPE]: { schema: components.refer('schemas', `${name}Problem`, schema) } }
  return components.refer('responses', name, { description, headers, ...(content && { content }) })
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
  ['millisecond', 1],
] as const

/** A quota that is the same for every request: `100 requests per minute`. */
function quotaText({ policies, place, cost, settle }: Rule): string | undefined {
  const policy = policies[place] as Policy
  const { compiledLimit, enforced, live, unit } = policy
  if (compiledLimit === undefined || live !== undefined || enforced < 1) return undefined
  const { limit, windowMs, calendar } = compiledLimit.params
  if (unit === 'concurrent-requests') return `${limit} requests at the same time`
  // Requests that cost more, or are free, are not as many as units.
  if (unit === 'requests' && (cost !== 1 || settle !== undefined)) return undefined
  const [name, ms] = UNITS.find(([, length]) => windowMs % length === 0) as (typeof UNITS)[number]
  const count = windowMs / ms
  const window = calendar?.name.split(':')[0] ?? (count === 1 ? name : `${count} ${name}s`)
  return `${limit} ${limit === 1 ? unit.replace(/s$/, '') : unit} per ${window}`
}
