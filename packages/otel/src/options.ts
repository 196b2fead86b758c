import type { MeterProvider, TracerProvider } from '@opentelemetry/api'
import { SluiceError } from '@sluice/core'
import { checkKnown } from '@sluice/core/internal'

export interface InstrumentOptions {
  /** Where the metrics go. Default: the global one, which must be registered before. */
  meterProvider?: MeterProvider
  /**
   * Records each decision as a span, `rate_limiting.consume`. Default: no spans. The events of
   * refusals are added to the active span in any case.
   */
  tracerProvider?: TracerProvider
  /**
   * Records `rate_limiting.utilization`: how much of its quota each request's client has
   * used. The histogram has a bucket boundary here. A share, above 0 and below 1.
   */
  nearLimit?: number
}

/** @throws SluiceError */
export function checkOptions(options: InstrumentOptions): void {
  checkKnown('', options, ['meterProvider', 'tracerProvider', 'nearLimit'])
  checkMethod(options, 'meterProvider', 'getMeter')
  checkMethod(options, 'tracerProvider', 'getTracer')
  const { nearLimit } = options
  if (nearLimit === undefined) return
  if (typeof nearLimit === 'number' && nearLimit > 0 && nearLimit < 1) return
  throw new SluiceError({
    code: 'SLUICE_OPTION_RANGE',
    option: 'nearLimit',
    expected: 'a number above 0 and below 1',
    received: nearLimit,
    fix: 'Give the share of a quota from which a client is near its limit, such as 0.8.',
  })
}

function checkMethod(options: InstrumentOptions, option: keyof InstrumentOptions, method: string) {
  const received = options[option] as Record<string, unknown> | undefined
  if (received === undefined || typeof received?.[method] === 'function') return
  throw new SluiceError({
    code: 'SLUICE_OPTION_TYPE',
    option,
    expected: `a provider with the method ${method}`,
    received,
    fix: 'Pass the provider of an SDK of OpenTelemetry, or leave the option out.',
  })
}
