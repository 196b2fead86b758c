import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ObservableCallback, ObservableGauge } from '@opentelemetry/api'

/** Called with the steps of a traced operation. */
type Steps<Context> = {
  readonly [step in 'start' | 'end' | 'asyncEnd']?: (context: Context) => void
}

/** Ends several subscriptions together. */
export class Subscriptions {
  readonly #endings: (() => void)[] = []

  to<Event>(name: string, hear: (event: Event) => void): void {
    const listener = (message: unknown) => hear(message as Event)
    subscribe(name, listener)
    this.#endings.push(() => unsubscribe(name, listener))
  }

  toSteps<Context extends object>(name: string, steps: Steps<Context>): void {
    for (const [step, hear] of Object.entries(steps)) this.to(`tracing:${name}:${step}`, hear)
  }

  /** Has a gauge observed until the subscriptions end. */
  observe(gauge: ObservableGauge, observe: ObservableCallback): void {
    gauge.addCallback(observe)
    this.#endings.push(() => gauge.removeCallback(observe))
  }

  end(): void {
    for (const end of this.#endings.splice(0)) end()
  }
}
