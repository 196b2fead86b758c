import type { Algorithm, CompiledLimit } from '../../algorithms/algorithm.ts'
import { composeDriver } from './compose.ts'
import { Script } from './script.ts'

/** By the steps that they run, of which there are few. */
const scripts = new Map<string, Script>()

/** driver.lua with the steps of some algorithms. */
export class Driver {
  readonly script: Script
  private readonly steps: readonly string[]

  constructor(algorithms: readonly Algorithm[]) {
    // In one order, so that servers keep one script for the same steps.
    this.steps = [...new Set(algorithms.map(({ lua }) => lua))].sort()
    const id = this.steps.join('\n')
    this.script = scripts.get(id) ?? new Script(composeDriver(this.steps))
    scripts.set(id, this.script)
  }

  /** The number, from 1, under which the script knows the step of a limit. */
  readonly step = ({ algorithm }: CompiledLimit): number => {
    return this.steps.indexOf(algorithm.lua) + 1
  }
}
