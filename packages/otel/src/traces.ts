import { type Attributes, type Span, type Tracer, trace } from '@opentelemetry/api'
import type { ConsumeTrace, DecisionEvent } from '@sluice/core'
import { ATTRIBUTES, placeOf } from './attributes.ts'
import { decided } from './metrics.ts'
import type { Subscriptions } from './subscriptions.ts'

/** Adds an event to the active span for each request that is refused, or would be. */
export function noteRefusals(subscriptions: Subscriptions): void {
  subscriptions.to<DecisionEvent>('sluice:decision', (event) => {
    if (event.allowed) return
    const span = trace.getActiveSpan()
    if (span?.isRecording()) span.addEvent('rate_limiting.refused', refusal(event))
  })
}

function refusal(event: DecisionEvent): Attributes {
  const attributes = decided(event)
  const { retryAfterMs, keyHash } = event
  if (Number.isFinite(retryAfterMs)) attributes['rate_limiting.retry_after'] = retryAfterMs / 1000
  if (keyHash !== undefined) attributes['rate_limiting.key_hash'] = keyHash
  return attributes
}

/** Makes each decision of policies a span. */
export function traceDecisions(tracer: Tracer, subscriptions: Subscriptions): void {
  const spans = new WeakMap<ConsumeTrace, Span>()
  const end = (context: ConsumeTrace) => {
    const { result } = context
    const span = spans.get(context)
    if (span === undefined) return
    spans.delete(context)
    if (result !== undefined)
      span.setAttributes(
        placeOf(context, result.policy, {
          [ATTRIBUTES.result]: result.allowed ? 'admitted' : 'refused',
          [ATTRIBUTES.source]: result.source,
        }),
      )
    span.end()
  }
  subscriptions.toSteps<ConsumeTrace>('sluice:consume', {
    start: (context) => spans.set(context, tracer.startSpan('rate_limiting.consume')),
    // A remote store has not answered yet.
    end: (context) => context.result !== undefined && end(context),
    asyncEnd: end,
  })
}
