import type { Attributes, Meter } from '@opentelemetry/api'
import type {
  DecisionEvent,
  OverloadEvent,
  PolicyChangeEvent,
  SettleEvent,
  StoreEvent,
  ThresholdEvent,
  WaitTrace,
} from '@sluice/core'
import { ATTRIBUTES, placeOf } from './attributes.ts'
import { metric } from './instruments.ts'
import { StoreState } from './store-state.ts'
import type { Subscriptions } from './subscriptions.ts'

/** The bucket boundaries of decisions, s: from those in memory to the longest deadlines. */
const DECISION_BOUNDARIES = [
  0.00001, 0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
]
/** The bucket boundaries of waits in a queue, s. */
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
  recordThresholds(meter, subscriptions)
  recordPolicies(meter, subscriptions)
  recordDryRuns(meter, subscriptions)
  recordOverload(meter, subscriptions)
  if (nearLimit !== undefined) recordUtilization(meter, nearLimit, subscriptions)
}

function recordDecisions(meter: Meter, state: StoreState, subscriptions: Subscriptions): void {
  const requests = meter.createCounter(...metric('requests'))
  const duration = meter.createHistogram(...metric('decisionDuration', DECISION_BOUNDARIES))
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
  const units = meter.createUpDownCounter(...metric('units'))
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
  const active = meter.createUpDownCounter(...metric('activeRequests'))
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
  const queued = meter.createUpDownCounter(...metric('queuedRequests'))
  const time = meter.createHistogram(...metric('timeInQueue', QUEUE_BOUNDARIES))
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
  const available = meter.createObservableGauge(...metric('storeAvailable'))
  subscriptions.to<StoreEvent>('sluice:store', (event) => state.hear(event))
  subscriptions.observe(available, (result) => result.observe(state.isAvailable ? 1 : 0))
}

function recordThresholds(meter: Meter, subscriptions: Subscriptions): void {
  const thresholds = meter.createCounter(...metric('thresholds'))
  subscriptions.to<ThresholdEvent>('sluice:threshold', (event) => {
    const { policy, threshold, source } = event
    const reached = { [ATTRIBUTES.threshold]: threshold, [ATTRIBUTES.source]: source }
    thresholds.add(1, placeOf(event, policy, reached))
  })
}

/**
 * Both limits of each live policy, always: an SDK reports a time series on and on, also one that ended with the
 * document.
 */
function recordPolicies(meter: Meter, subscriptions: Subscriptions): void {
  const gauge = meter.createObservableGauge(...metric('policyLimit'))
  const inForce = new Map<string, PolicyChangeEvent>()
  subscriptions.to<PolicyChangeEvent>('sluice:policy', (event) => inForce.set(event.id, event))
  subscriptions.observe(gauge, (result) => {
    for (const { limiter, policy, id, limit, codeLimit } of inForce.values()) {
      const place = placeOf({ limiter, route: undefined }, policy, { [ATTRIBUTES.livePolicy]: id })
      for (const [source, units] of Object.entries({ document: limit, code: codeLimit }))
        if (units !== undefined) result.observe(units, { ...place, [ATTRIBUTES.source]: source })
    }
  })
}

function recordDryRuns(meter: Meter, subscriptions: Subscriptions): void {
  const refusals = meter.createCounter(...metric('dryRunRefusals'))
  subscriptions.to<DecisionEvent>('sluice:decision', (event) => {
    for (const { name, allowed, dryRun } of event.policies)
      if (dryRun && !allowed) refusals.add(1, placeOf(event, name))
  })
}

function recordOverload(meter: Meter, subscriptions: Subscriptions): void {
  const requests = meter.createCounter(...metric('overloadRequests'))
  const limit = meter.createGauge(...metric('overloadLimit'))
  const active = meter.createGauge(...metric('overloadActive'))
  const queued = meter.createGauge(...metric('overloadQueued'))
  subscriptions.to<OverloadEvent>('sluice:overload', (event) => {
    const place = placeOf({ limiter: event.limiter, route: undefined }, undefined)
    limit.record(event.limit, place)
    active.record(event.active, place)
    queued.record(event.waiting, place)
    for (const [name, { admitted, shed }] of Object.entries(event.classes)) {
      const own = { ...place, [ATTRIBUTES.class]: name }
      const reason = event.signal && { [ATTRIBUTES.signal]: event.signal }
      if (admitted > 0) requests.add(admitted, { ...own, [ATTRIBUTES.result]: 'admitted' })
      if (shed > 0) requests.add(shed, { ...own, [ATTRIBUTES.result]: 'shed', ...reason })
    }
  })
}

function recordUtilization(meter: Meter, nearLimit: number, subscriptions: Subscriptions): void {
  const boundaries = new Set([...UTILIZATION_BOUNDARIES, nearLimit])
  const utilization = meter.createHistogram(
    ...metric(
      'utilization',
      [...boundaries].sort((a, b) => a - b),
    ),
  )
  subscriptions.to<DecisionEvent>('sluice:decision', (event) => {
    for (const { name, limit, remaining } of event.policies)
      if (limit > 0) utilization.record((limit - remaining) / limit, placeOf(event, name))
  })
}
