import { machine, versionsOf } from '../environment.ts'
import type { Measurement } from './results.ts'
import { facts, measurementTable } from './tables.ts'

/**
 * Begins a run of a bench that writes no results.
 *
 * @returns prints what it found, a measurement or text each, on which machine and with which versions of these packages
 */
export function beginReport() {
  const begun = performance.now()
  const before = machine()
  return async (
    found: readonly (Measurement | string)[],
    packages: readonly string[] = [],
    versions: { readonly [software: string]: string } = {},
  ): Promise<void> => {
    const load = machine()['load before'] as string
    const took = `${Math.round((performance.now() - begun) / 1000)} s`
    const parts = [
      facts({ ...before, 'load after': load, took }),
      facts({ ...(await versionsOf(packages)), ...versions }),
      ...found.map((each) => (typeof each === 'string' ? each : measurementTable(each))),
    ]
    console.log(parts.join('\n\n'))
  }
}
