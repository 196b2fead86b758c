import { parseProgram } from './parse.ts'
import { expressRateLimit } from './peers/express.ts'
import { fastifyRateLimit } from './peers/fastify.ts'
import { rateLimiterFlexible } from './peers/flexible.ts'
import { koaRatelimit } from './peers/koa.ts'
import { nestThrottler } from './peers/nest.ts'
import type { Peer } from './peers/peer.ts'
import { Source } from './source.ts'
import { withoutUnused } from './unused.ts'

/** The limiters that can be replaced, in the order in which they rewrite a file. */
export const PEERS: readonly Peer[] = [
  expressRateLimit,
  fastifyRateLimit,
  koaRatelimit,
  nestThrottler,
  rateLimiterFlexible,
]

/** A file after the migration. */
export interface Migration {
  readonly text: string
  /** The packages that it used. None: the text is as it was. */
  readonly peers: readonly string[]
}

/**
 * The text of a file with Sluice in place of the limiters that it uses. Nothing is executed.
 *
 * @param name the file's name, whose ending says which syntax it has
 * @throws SourceSyntaxError if it can't be parsed
 */
export function migrateText(text: string, name: string): Migration {
  const source = new Source(text, name)
  const peers = PEERS.filter((peer) => peer.migrate(source)).map((peer) => peer.name)
  if (peers.length === 0) return { text, peers }
  const migrated = withoutUnused(source, source.finish())
  parseProgram(migrated, name)
  return { text: migrated, peers }
}
