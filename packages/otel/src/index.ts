import { metrics } from '@opentelemetry/api'
import { recordMetrics } from './metrics.ts'
import { checkOptions, type InstrumentOptions } from './options.ts'
import { Subscriptions } from './subscriptions.ts'
import { noteRefusals, traceDecisions } from './traces.ts'

export type { InstrumentOptions } from './options.ts'

const SCOPE = '@sluice/otel'

/**
 * Records metrics and traces of all limiters of the process. Call it once, before the first request
 * and after the providers are registered.
 *
 * @returns a function that stops it
 * @throws SluiceError if an option is unknown, of the wrong type or out of range
 */
export function instrument(options: InstrumentOptions = {}): () => void {
  checkOptions(options)
  const { meterProvider = metrics.getMeterProvider(), tracerProvider, nearLimit } = options
  const subscriptions = new Subscriptions()
  recordMetrics(meterProvider.getMeter(SCOPE), nearLimit, subscriptions)
  noteRefusals(subscriptions)
  if (tracerProvider !== undefined) traceDecisions(tracerProvider.getTracer(SCOPE), subscriptions)
  return () => subscriptions.end()
}
