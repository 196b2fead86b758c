import { parseProgram } from './parse.ts'
import { expressRateLimit } from './peers/express.ts'
import { fastifyRateLimit } from './peers/fastify.ts'
import { rateLimiterFlexible } from './peers/flexible.ts'
import { honoRateLimiter } from './peers/hono.ts'
import { KEPT } from './peers/kept.ts'
import { koaRatelimit } from './peers/koa.ts'
import { nestThrottler } from './peers/nest.ts'
import type { Peer } from './peers/peer.ts'
import { CallLeft, type LeftCalls, Source } from './source.ts'
import { withoutUnused } from './unused.ts'

/** The limiters that are found, in the order in which they rewrite a file. */
export const PEERS: readonly Peer[] = [
  expressRateLimit,
  fastifyRateLimit,
  koaRatelimit,
  nestThrottler,
  rateLimiterFlexible,
  honoRateLimiter,
  ...KEPT,
]

/** A file after the migration. */
export interface Migration {
  readonly text: string
  /** The packages that it used. None: the text is as it was. */
  readonly peers: readonly string[]
  /** How many calls are rewritten. */
  readonly rewritten: number
  /** The lines of what stays as it is, from 1, in the text as it was. */
  readonly leftLines: readonly number[]
  /** The packages of which nothing may be rewritten in other files of the application either. */
  readonly staying: ReadonlySet<string>
}

/**
 * The text of a file with Sluice in place of the limiters that it uses. Nothing is executed.
 *
 * @param name the file's name, whose ending says which syntax it has
 * @param staying the packages that another file of the application keeps
 * @throws SourceSyntaxError if it can't be parsed
 */
export function migrateText(
  text: string,
  name: string,
  staying: ReadonlySet<string> = new Set(),
): Migration {
  const leftCalls: LeftCalls = new Map()
  for (;;) {
    try {
      return migrated(new Source(text, name, leftCalls, staying))
    } catch (error) {
      if (!(error instanceof CallLeft) || leftCalls.has(error.place)) throw error
      leftCalls.set(error.place, error.reason)
    }
  }
}

/** @throws CallLeft if one more call has to stay as it is */
function migrated(source: Source): Migration {
  const peers = PEERS.filter((peer) => peer.migrate(source)).map((peer) => peer.name)
  const { name, rewritten, leftLines, staying } = source
  const text = peers.length === 0 ? source.text : withoutUnused(source, source.finish())
  if (peers.length > 0) parseProgram(text, name)
  return { text, peers, rewritten, leftLines, staying }
}
