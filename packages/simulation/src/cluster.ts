import { Server, type Witness } from './server.ts'
import type { Timeline } from './timeline.ts'

/** The parts of a store that fail separately, as clients know them. */
const GROUPS = 4

/** One server, or several masters that share the keys: those with the same text in braces are on the same one. */
export class Cluster {
  readonly servers: readonly Server[]
  /** The number of the script that runs, or ran last. */
  transaction = 0
  /** Who must know of what they lose. */
  readonly witnesses: Witness[] = []
  /** The masters of the texts that have moved. */
  readonly #moved = new Map<string, Server>()

  /** @param epoch their clock when the simulation begins, ms */
  constructor(masters: number, timeline: Timeline, epoch: number) {
    this.servers = Array.from({ length: masters }, () => new Server(timeline, epoch, this))
  }

  /** The clock that a key is decided by: integer ms since the epoch. */
  clockOf(key: string): number {
    return this.serverOf(key.startsWith('{') ? key : `{${key}}`).now()
  }

  get size(): number {
    return this.servers.reduce((sum, { size }) => sum + size, 0)
  }

  /** @param name a key as a server has it */
  serverOf(name: string): Server {
    const tag = tagOf(name)
    const { servers } = this
    return this.#moved.get(tag) ?? (servers[groupOf(tag) % servers.length] as Server)
  }

  /** Moves the keys with a text in braces to the next master. While it lasts, scripts with several of them fail. */
  beginMove(tag: string): () => void {
    const { servers } = this
    const from = this.serverOf(`{${tag}}`)
    const to = servers[(servers.indexOf(from) + 1) % servers.length] as Server
    const isMoved = (name: string) => tagOf(name) === tag
    from.migrates = isMoved
    return () => {
      from.migrates = undefined
      from.moveTo(to, isMoved)
      this.#moved.set(tag, to)
    }
  }
}

/** The part of the store that has the keys with a text in braces. */
export function groupOf(tag: string): number {
  let sum = 0
  for (let i = 0; i < tag.length; i += 1) sum += tag.charCodeAt(i)
  return sum % GROUPS
}

/** What stands between the first braces. */
export function tagOf(name: string): string {
  return /\{([^}]*)\}/.exec(name)?.[1] ?? ''
}
