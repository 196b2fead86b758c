import type { Attributes } from '@opentelemetry/api'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'

/** A value with the attributes that it was recorded with. A histogram's value is its sum. */
export interface Point {
  readonly attributes: Attributes
  readonly value: number
  /** The bucket boundaries, if it is a histogram. */
  readonly boundaries?: readonly number[]
}

export interface Meters {
  readonly provider: MeterProvider
  /** Returns the recorded points, by the name of the metric. */
  read(): Promise<Record<string, Point[]>>
  /** The scope, unit and description of each metric. */
  described(): Promise<{ scope: string; name: string; unit: string; description: string }[]>
}

/** An SDK whose metrics a test reads. */
export function useMeters(): Meters {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  // It exports only when the test asks for it.
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 31 - 1 })
  const provider = new MeterProvider({ readers: [reader] })
  const scopes = async () => {
    exporter.reset()
    await provider.forceFlush()
    return exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics)
  }
  return {
    provider,
    async read() {
      const metrics = (await scopes()).flatMap(({ metrics }) => metrics)
      return Object.fromEntries(
        metrics.map(({ descriptor, dataPoints }) => [
          descriptor.name,
          dataPoints.map(({ attributes, value }) =>
            typeof value === 'number'
              ? { attributes, value }
              : { attributes, value: value.sum as number, boundaries: boundariesOf(value) },
          ),
        ]),
      )
    },
    async described() {
      return (await scopes()).flatMap(({ scope, metrics }) =>
        metrics.map(({ descriptor: { name, unit, description } }) => {
          return { scope: scope.name, name, unit, description }
        }),
      )
    },
  }
}

function boundariesOf(value: object): readonly number[] {
  return 'buckets' in value ? (value.buckets as { boundaries: number[] }).boundaries : []
}
