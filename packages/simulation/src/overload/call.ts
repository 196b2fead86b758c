import type { Exchange } from '../exchange.ts'

/** How a request went. Times are ms of the simulation. */
export interface Call {
  readonly exchange: Exchange
  readonly client: string
  /** The number of its class. */
  readonly importance: number
  readonly sentAt: number
  /** Whether its client waits for as long as most do. */
  readonly isPatient: boolean
  /** When it arrived at its process, which may have stood still. */
  arrivedAt: number
  begunAt: number | undefined
  endedAt: number | undefined
  /** Undefined while it waits, or is served. */
  result: 'served' | 'shed' | 'left' | undefined
}
