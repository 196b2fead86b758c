import { findExecutable, whyNot } from '../executables/index.ts'

const advice = 'apt, brew install prometheus'

/** @throws Error with how to get it */
export function prometheusBinary(): string {
  return findExecutable({ variable: 'PROMETHEUS', names: ['prometheus'], advice })
}

/** The path of promtool, which comes with Prometheus. @throws Error with how to get it */
export function promtoolBinary(): string {
  return findExecutable({ variable: 'PROMTOOL', names: ['promtool'], advice })
}

/** Why the tests that need Prometheus can't run here; undefined if they can. */
export function whyNoPrometheus(): string | undefined {
  return whyNot(prometheusBinary) ?? whyNot(promtoolBinary)
}
