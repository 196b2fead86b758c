import { type Fault, isOfDocument, isOfOperator, type PlannedVersion } from './plan.ts'
import type { Process } from './process.ts'
import type { Server } from './server.ts'
import type { World } from './world.ts'

/** The processes of the application, each in its place. */
export interface Application {
  readonly places: Process[]
  /** Starts a process in the place of another. */
  replace(place: number, version: PlannedVersion): void
}

/** The longest that a process takes to use a store again that works, after its last failure, ms. */
const RECOVERY_MS = 4000

/** What a server says that does not write. */
export const REFUSALS = {
  'out of memory': "OOM command not allowed when used memory > 'maxmemory'.",
  'read only': "READONLY You can't write against a read only replica.",
}

/** What happens when a fault begins, and when it ends. */
export function cause(fault: Fault, world: World, application: Application): void {
  const { timeline, cluster } = world
  const { servers } = cluster
  const { places } = application
  const isInstant = isOfOperator(fault) && fault.kind !== 'block key'
  const lasts = 'ms' in fault && !isInstant ? (fault.ms ?? 0) : 0
  const { deadline } = world.plan.application
  const over = timeline.now + lasts + RECOVERY_MS + deadline
  if (!isOfDocument(fault)) world.troubledUntil = Math.max(world.troubledUntil, over)
  world.tell('fault', () => describe(fault))
  const process = 'process' in fault ? (places[fault.process] as Process) : undefined
  const later = (act: () => void) => timeline.after(lasts, act)
  const server = servers[masterOf(fault) % servers.length] as Server

  switch (fault.kind) {
    case 'freeze':
      server.freeze(fault.ms)
      break
    case 'out of memory':
    case 'read only':
      server.refusal = REFUSALS[fault.kind]
      later(() => {
        server.refusal = undefined
      })
      break
    case 'slow server':
      server.slowMs = fault.by
      later(() => {
        server.slowMs = 0
      })
      break
    case 'restart':
      server.stop()
      for (const { connection } of places) connection.reset(connection.queuesOffline, server)
      later(() => server.start(fault.lost ?? Infinity))
      break
    case 'evict':
      server.evict(world.random('evict'))
      break
    case 'flush':
      server.lose(Infinity)
      break
    case 'server clock':
      server.step(fault.by)
      break
    case 'move keys':
      later(cluster.beginMove(fault.tag))
      break
    case 'lose requests':
    case 'lose replies':
      ;(process as Process).connection.mode = fault.kind
      later(() => {
        ;(process as Process).connection.mode = 'works'
      })
      break
    case 'stall':
      process?.machine.stall(fault.ms)
      break
    case 'reset connection':
    case 'send twice':
      process?.connection.reset(fault.kind === 'send twice')
      break
    case 'kill':
    case 'leave':
      if (fault.kind === 'leave') process?.leave()
      else process?.kill()
      application.replace(fault.process, fault)
      break
    case 'process clock':
      process?.stepClock(fault.by)
      break
    case 'reset key':
      process?.endCount(fault.client)
      break
    case 'block key':
      process?.endCount(fault.client, fault.ms)
      break
    case 'block network':
    case 'unblock network':
      process?.blockNetwork(fault)
      break
    case 'set policy':
    case 'unset policy':
    case 'apply policies':
    case 'roll back policies':
    case 'write policies':
      process?.operate(fault)
      break
    case 'override':
    case 'grant':
      process?.setOwnLimit(fault)
      break
  }
}

/** The number of the server that a fault is about. */
function masterOf(fault: Fault): number {
  return ('master' in fault ? fault.master : undefined) ?? 0
}

function describe({ at: _, kind, ...rest }: Fault): string {
  const text = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : value)
  const details = Object.entries(rest).map(([name, value]) => `${name} ${text(value)}`)
  return [kind, ...details].join(', ')
}
