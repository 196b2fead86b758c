import type { MetricOptions } from '@opentelemetry/api'
import type { ATTRIBUTES } from './attributes.ts'

/** A metric. `npm run generate` writes docs/metrics.md from these. */
interface Instrument extends MetricOptions {
  readonly name: string
  readonly type: 'counter' | 'up-down counter' | 'gauge' | 'histogram'
  readonly description: string
  /** The attributes that its values can have, besides those of the resource. */
  readonly attributes: readonly (keyof typeof ATTRIBUTES)[]
}

const DECIDED = ['policy', 'result', 'source', 'route', 'errorType'] as const
const PLACE = ['policy', 'route'] as const

export const INSTRUMENTS = {
  requests: {
    name: 'rate_limiting.requests',
    type: 'counter',
    unit: '{request}',
    description: 'Requests that a limiter has decided or skipped.',
    attributes: DECIDED,
  },
  decisionDuration: {
    name: 'rate_limiting.decision.duration',
    type: 'histogram',
    unit: 's',
    description: 'How long decisions took, with the call of the store.',
    attributes: DECIDED,
  },
  units: {
    name: 'rate_limiting.units',
    type: 'up-down counter',
    unit: '{unit}',
    description:
      'Units charged for requests (charged), and the sum of their corrections (settled): negative if more was given back.',
    attributes: DECIDED,
  },
  activeRequests: {
    name: 'rate_limiting.active_requests',
    type: 'up-down counter',
    unit: '{request}',
    description: 'Requests in progress that hold a slot of a policy with concurrent.',
    attributes: PLACE,
  },
  queuedRequests: {
    name: 'rate_limiting.queued_requests',
    type: 'up-down counter',
    unit: '{request}',
    description: 'Admitted requests that wait for their turn in a leaky bucket.',
    attributes: PLACE,
  },
  timeInQueue: {
    name: 'rate_limiting.request.time_in_queue',
    type: 'histogram',
    unit: 's',
    description: 'How long requests have waited, until their turn or until their client left.',
    attributes: PLACE,
  },
  storeAvailable: {
    name: 'rate_limiting.store.available',
    type: 'gauge',
    description: '0 while a remote store of the process is not used because it has failed, else 1.',
    attributes: [],
  },
  thresholds: {
    name: 'rate_limiting.thresholds',
    type: 'counter',
    unit: '{threshold}',
    description:
      'How often a charge has brought what a key has used to a share of its limit that alertAt lists.',
    attributes: ['policy', 'threshold', 'source', 'route'],
  },
  policyLimit: {
    name: 'rate_limiting.policy.limit',
    type: 'gauge',
    unit: '{unit}',
    description:
      'The limit of a live policy in the process: what is in force (document), and what the code has (code). They differ while a document sets another limit. None of a limit that is a function of the request.',
    attributes: ['policy', 'livePolicy', 'source'],
  },
  dryRunRefusals: {
    name: 'rate_limiting.dry_run.refusals',
    type: 'counter',
    unit: '{request}',
    description:
      'Requests that a policy would refuse but for its dryRun or enforce: by each such policy, also where another one refuses.',
    attributes: PLACE,
  },
  overloadRequests: {
    name: 'rate_limiting.overload.requests',
    type: 'counter',
    unit: '{request}',
    description: 'Requests that shedLoad has admitted or shed.',
    attributes: ['policy', 'class', 'result', 'signal'],
  },
  overloadLimit: {
    name: 'rate_limiting.overload.limit',
    type: 'gauge',
    unit: '{request}',
    description: 'The most requests that shedLoad lets be in progress at present.',
    attributes: ['policy'],
  },
  overloadActive: {
    name: 'rate_limiting.overload.active_requests',
    type: 'gauge',
    unit: '{request}',
    description: 'Requests in progress that hold a place of shedLoad, at its last event.',
    attributes: ['policy'],
  },
  overloadQueued: {
    name: 'rate_limiting.overload.queued_requests',
    type: 'gauge',
    unit: '{request}',
    description: 'Requests that wait for a place of shedLoad, at its last event.',
    attributes: ['policy'],
  },
  utilization: {
    name: 'rate_limiting.utilization',
    type: 'histogram',
    description:
      'The share of its quota that the client of a request has used, after the request. Only with the option nearLimit.',
    attributes: PLACE,
  },
} as const satisfies Record<string, Instrument>

/** The arguments that create a metric. @param boundaries the edges of a histogram's buckets */
export function metric(
  key: keyof typeof INSTRUMENTS,
  boundaries?: number[],
): [name: string, options: MetricOptions] {
  const advice = boundaries && { explicitBucketBoundaries: boundaries }
  return [INSTRUMENTS[key].name, { ...INSTRUMENTS[key], ...(advice && { advice }) }]
}
