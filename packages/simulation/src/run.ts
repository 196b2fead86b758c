import { random } from '@sluice/test-harness/random'
import { Cluster } from './cluster.ts'
import { EPOCH } from './machine.ts'
import type { Plan } from './plan.ts'
import { Stage } from './stage.ts'

/** A plan that is played: what its checks need of it. */
export class Run extends Stage {
  readonly plan: Plan
  readonly cluster: Cluster
  /** When the last fault was over, ms. */
  troubledUntil = 0

  constructor(plan: Plan, tells: boolean) {
    super(tells)
    const { cluster: { masters } = { masters: 1 } } = plan.application
    this.plan = plan
    this.cluster = new Cluster(masters, this.timeline, plan.epoch ?? EPOCH)
  }

  /** Numbers in [0, 1) for one purpose. */
  random(purpose: string): () => number {
    return random(this.plan.seed ^ hashOf(purpose))
  }
}

/** A number of a text: FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash
}
