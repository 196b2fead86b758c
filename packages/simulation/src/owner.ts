import type { Connection } from './connection.ts'
import type { Core } from './core.ts'
import type { Machine } from './machine.ts'
import type { World } from './world.ts'

/** A process, as its limiters and their checks need it. */
export interface Owner {
  readonly name: string
  readonly machine: Machine
  readonly connection: Connection
  readonly core: Core
  readonly world: World
}
