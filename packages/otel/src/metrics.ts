import type { Attributes, Meter } from '@opentelemetry/api'
import type { DecisionEvent, SettleEvent, StoreEvent, WaitTrace } from '@sluice/core'
import { ATTRIBUTES, placeOf } from './attributes.ts'
import { StoreState } from './store-state.ts'
import type { Subscriptions } from './subscriptions.ts'

/** Of decisions, s: from those in memory to the longest deadlines. */
const DECISION_BOUNDARIES = [
  0.00001, 0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
]
/** Of waits in a queue, s. */
const QUEUE_BOUNDARIES = [0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
/** Shares of a quota. */
const UTILIZATION_BOUNDARIES = [0, 0.25, 0.5, 0.75, 0.9, 0.95, 1]

const MS_PER_S = 1000

/** Records the metrics of all limiters of the process. */
export function recordMetrics(
  meter: Meter,
  nearLimit: number | undefined,
  subscriptions: Subscriptions,
): void {
  const state = new StoreState()
  recordDecisions(meter, state, subscriptions)
  recordUnits(meter, subscriptions)
  recordActive(meter, subscriptions)
  recordQueue(meter, subscriptions)
  recordStore(meter, state, subscriptions)
  if (nearLimit !== undefined) recordUtilization(meter, nearLimit, subscriptions)
}

function recordDecisions(meter: Meter, state: StoreState, subscriptions: Subscriptions): void {
  const requests = meter.createCounter('rate_limiting.requests', {
    description: 'Requests that a limiter has decided or skipped.',
    unit: '{request}',
  })
  const duration = meter.createHistogram('rate_limiting.decision.duration', {
    description: 'How long decisions took, with the call of the store.',
    unit: 's',
    advice: { explicitBucketBoundaries: DECISION_BOUNDARIES },
  })
  subscriptions.to<DecisionEvent>('sluice:decision', (event) => {
    const attributes = decided(event)
    const error = state.errorOf(event)
    if (error !== undefined) attributes[ATTRIBUTES.errorType] = error
    requests.add(1, attributes)
    if (event.durationMs > 0) duration.record(event.durationMs / MS_PER_S, attributes)
  })
}

/** The attributes of a decision. */
export function decided(event: DecisionEvent): Attributes {
  return placeOf(event, event.policy, {
    [ATTRIBUTES.result]: event.result,
    [ATTRIBUTES.source]: event.source,
  })
}

/** Units that requests were charged, and by which settlement has corrected that. */
function recordUnits(meter: Meter, subscriptions: Subscriptions): void {
  const units = meter.createUpDownCounter('rate_limiting.units', {
    description:
      'Units charged for requests (charged), and the sum of their corrections (settled): negative if more was given back.',
    unit: '{unit}',
  })
  subscriptions.to<DecisionEvent>('sluice:decision', (event) => {
    for (const { name, unit, charged, source } of event.policies) {
      if (charged === 0 || unit === SLOTS) continue
      const result = { [ATTRIBUTES.result]: 'charged', [ATTRIBUTES.source]: source }
      units.add(charged, placeOf(event, name, result))
    }
  })
  subscriptions.to<SettleEvent>('sluice:settle', (event) => {
    for (const { name, unit, units: corrected } of event.policies) {
      if (unit === SLOTS) continue
      const attributes = placeOf(event, name, { [ATTRIBUTES.result]: 'settled' })
      if (event.errorType !== undefined) attributes[ATTRIBUTES.errorType] = event.errorType
      units.add(corrected, attributes)
    }
  })
}

/** The unit of policies with `concurrent`. */
const SLOTS = 'concurrent-requests'

function recordActive(meter: Meter, subscriptions: Subscriptions): void {
  const active = meter.createUpDownCounter('rate_limiting.active_requests', {
    description: 'Requests in progress that hold a slot of a policy with concurrent.',
    unit: '{request}',
  })
  const add = (event: DecisionEvent | SettleEvent, name: string, slots: number) =>
    active.add(slots, placeOf(event, name))
  subscriptions.to<DecisionEvent>('sluice:decision', (event) => {
    for (const { name, unit, charged } of event.policies)
      if (unit === SLOTS && charged > 0) add(event, name, charged)
  })
  subscriptions.to<SettleEvent>('sluice:settle', (event) => {
    if (event.reason === 'cost') return
    for (const { name, unit, units } of event.policies) if (unit === SLOTS) add(event, name, units)
  })
}

function recordQueue(meter: Meter, subscriptions: Subscriptions): void {
  const queued = meter.createUpDownCounter('rate_limiting.queued_requests', {
    description: 'Admitted requests that wait for their turn in a leaky bucket.',
    unit: '{request}',
  })
  const time = meter.createHistogram('rate_limiting.request.time_in_queue', {
    description: 'How long requests have waited, until their turn or until their client left.',
    unit: 's',
    advice: { explicitBucketBoundaries: QUEUE_BOUNDARIES },
  })
  const begun = new WeakMap<WaitTrace, number>()
  subscriptions.toSteps<WaitTrace>('sluice:wait', {
    start(trace) {
      begun.set(trace, performance.now())
      queued.add(1, placeOf(trace, trace.policy))
    },
    asyncEnd(trace) {
      const begunAt = begun.get(trace)
      if (begunAt === undefined) return
      const attributes = placeOf(trace, trace.policy)
      queued.add(-1, attributes)
      time.record((performance.now() - begunAt) / MS_PER_S, attributes)
    },
  })
}

function recordStore(meter: Meter, state: StoreState, subscriptions: Subscriptions): void {
  const available = meter.createObservableGauge('rate_limiting.store.available', {
    description: '0 while a remote store of the process is not used because it has failed, else 1.',
  })
  const observe: Parameters<typeof available.addCallback>[0] = (result) =>
    result.observe(state.isAvailable ? 1 : 0)
  subscriptions.to<StoreEvent>('sluice:store', (event) => state.hear(event))
  available.addCallback(observe)
  subscriptions.whenEnded(() => available.removeCallback(observe))
}

function recordUtilization(meter: Meter, nearLimit: number, subscriptions: Subscriptions): void {
  const boundaries = new Set([...UTILIZATION_BOUNDARIES, nearLimit])
  const utilization = meter.createHistogram('rate_limiting.utilization', {
    description: 'The share of its quota that the client of a request has used, after the request.',
    advice: { explicitBucketBoundaries: [...boundaries].sort((a, b) => a - b) },
  })
  subscriptions.to<DecisionEvent>('sluice:decision', (event) => {
    for (const { name, limit, remaining } of event.policies)
      if (limit > 0) utilization.record((limit - remaining) / limit, placeOf(event, name))
  })
}
