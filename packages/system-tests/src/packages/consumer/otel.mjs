// Prints what OpenTelemetry has counted of three requests.

import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { createLimiter } from '@sluice/core'
import { instrument } from '@sluice/otel'

const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
const meterProvider = new MeterProvider({
  readers: [new PeriodicExportingMetricReader({ exporter })],
})
instrument({ meterProvider })
const limiter = createLimiter({ limit: 2, window: '1d' })
for (let i = 0; i < 3; i++) limiter.consume('a')
meterProvider.forceFlush().then(() => {
  const metrics = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics[0].metrics)
  const { dataPoints } = metrics.find(
    ({ descriptor }) => descriptor.name === 'rate_limiting.requests',
  )
  const counts = dataPoints.map(({ attributes, value }) => [
    attributes['rate_limiting.result'],
    value,
  ])
  console.log(JSON.stringify(Object.fromEntries(counts)))
  process.exit()
})
