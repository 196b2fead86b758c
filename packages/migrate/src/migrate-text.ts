import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { noteBesides } from './besides.ts'
import { BY_HAND } from './find-options.ts'
import { Imports } from './imports.ts'
import { finishedText } from './notes.ts'
import { type Parsed, parseFile } from './parse.ts'
import { expressRateLimit } from './peers/express.ts'
import { fastifyRateLimit } from './peers/fastify.ts'
import { rateLimiterFlexible } from './peers/flexible.ts'
import { honoRateLimiter } from './peers/hono.ts'
import { KEPT } from './peers/kept.ts'
import { koaRatelimit } from './peers/koa.ts'
import { nestThrottler } from './peers/nest.ts'
import type { Peer } from './peers/peer.ts'
import { upstashRatelimit } from './peers/upstash.ts'
import { leaveSharers } from './shared-values.ts'
import { type Culprit, type Left, type LeftCalls, Source, type Staying } from './source.ts'
import { withoutUnused } from './unused.ts'

/** The limiters that are found, in the order in which they rewrite a file. */
export const PEERS: readonly Peer[] = [
  expressRateLimit,
  fastifyRateLimit,
  koaRatelimit,
  nestThrottler,
  rateLimiterFlexible,
  honoRateLimiter,
  upstashRatelimit,
  ...KEPT,
]

/** A file after the migration. */
export interface Migration {
  readonly text: string
  /** The packages that it used. None: the text is as it was. */
  readonly peers: readonly string[]
  /** How many calls are rewritten. */
  readonly rewritten: number
  readonly left: readonly Left[]
}

/**
 * The text of a file with Sluice in place of the limiters that it uses. Nothing is executed.
 *
 * @param name the file's name, whose ending says which syntax it has
 * @throws SourceSyntaxError if it can't be parsed
 */
export function migrateText(text: string, name: string): Migration {
  const [migration] = migrateFiles([parseFile(text, name)])
  return migration as Migration
}

/** Rewrites the files of an application: what stays in one of them may keep others as they are. */
export function migrateFiles(files: readonly Parsed[]): Migration[] {
  const all = files.map((parsed) => ({ parsed, own: new Map() as LeftCalls }))
  const alone = all.map(({ parsed, own }) => migrateAlone(parsed, own, new Map(), files))
  let staying = stayingIn(alone.map(({ source }) => source.culprits))
  if (staying.size === 0) return alone.map(({ migration }) => migration)
  for (let round = 0; ; round += 1) {
    const results = all.map(({ parsed, own }) => migrateAlone(parsed, new Map(own), staying, files))
    const migrations = results.map(({ migration }) => migration)
    const moved = withLines(staying, files, migrations)
    if (moved === undefined || round === MOST_ROUNDS) return migrations
    staying = moved
  }
}

/** Comments above a line move it, and their own length depends on the numbers in them. */
const MOST_ROUNDS = 4

function stayingIn(all: readonly ReadonlyMap<string, readonly Culprit[]>[]): Staying {
  const staying = new Map<string, Culprit[]>()
  for (const [peer, culprits] of all.flatMap((each) => [...each])) {
    if (culprits.length > 0) staying.set(peer, [...(staying.get(peer) ?? []), ...culprits])
  }
  return staying
}

/** Adds the lines that migrated files have; undefined if they are there already. */
function withLines(
  staying: Staying,
  files: readonly Parsed[],
  migrations: readonly Migration[],
): Staying | undefined {
  const lines = new Map<string, readonly number[]>()
  const lineIn = ({ file, index, line }: Culprit): number => {
    const i = files.findIndex(({ name }) => name === file)
    const known = lines.get(file) ?? linesLeft(parseFile(migrations[i]?.text ?? '', file), files)
    lines.set(file, known)
    return known[index] ?? line
  }
  let isMoved = false
  const moved = [...staying].map(([peer, culprits]) => {
    const all = culprits.map((each) => ({ ...each, line: lineIn(each) }))
    isMoved ||= all.some(({ line }, i) => line !== culprits[i]?.line)
    return [peer, all] as const
  })
  return isMoved ? new Map(moved) : undefined
}

/** The lines of what stays for a reason of its own. */
function linesLeft(parsed: Parsed, files: readonly Parsed[]): number[] {
  const { migration } = migrateAlone(parsed, new Map(), new Map(), files)
  return migration.left.map(({ line }) => line)
}

interface Result {
  readonly source: Source
  readonly migration: Migration
}

/** @param leftCalls what stays; it grows while it turns out what else has to */
function migrateAlone(
  parsed: Parsed,
  leftCalls: LeftCalls,
  staying: Staying,
  files: readonly Parsed[],
): Result {
  for (;;) {
    const known = leftCalls.size
    const source = new Source(parsed, leftCalls, staying, files)
    try {
      const used = PEERS.flatMap((peer) => rewritten(source, peer) ?? [])
      leaveSharers(source)
      if (leftCalls.size === known) {
        const migration = finished(source, used)
        if (migration !== undefined) return { source, migration }
      }
    } catch (error) {
      // Edits of a call that stays in the end may be in the way of others.
      if (leftCalls.size === known) throw error
    }
  }
}

/** Rewrites what uses a package. @returns its imports; undefined: nothing uses it */
function rewritten(source: Source, peer: Peer): Imports | undefined {
  const before = source.found
  const imports = new Imports(source, peer.name, peer.sluice ?? '')
  leaveExports(source, peer)
  if (imports.isUsed || peer.isFoundByOptions) peer.migrate(imports)
  return imports.isUsed || source.found > before ? imports : undefined
}

/** What a file exports of a package stays: others may use it. */
function leaveExports(source: Source, { name }: Peer): void {
  if (!source.text.includes(name)) return
  const found: NodePath[] = []
  const add = (path: NodePath<t.ExportNamedDeclaration | t.ExportAllDeclaration>) => {
    if (path.node.source?.value === name) found.push(path)
  }
  source.program.traverse({ ExportNamedDeclaration: add, ExportAllDeclaration: add })
  const leave = () => source.leave(`Other files use ${name} by this one. ${BY_HAND}`)
  source.migrateJointly(name, new Map(found.map((path) => [path, leave])))
}

/** What is used beside limiters alone, or not at all, says so: it may depend on other files. */
function noteIdle(source: Source, used: readonly Imports[]): void {
  const isIdle = source.found === 0 && !source.edits.hasChanged()
  for (const { from, first, uses } of used) {
    if (first === undefined || source.isEdited(first.node)) continue
    if (uses.length === 0) source.noteLeft(first, `Nothing in this file uses ${from}. Remove it.`)
    else if (isIdle) {
      source.noteLeft(
        first,
        `This file makes no limiter of ${from}. Rewrite it by hand together with those that do: https://sluicejs.github.io/sluice/migrating has every name.`,
      )
    }
  }
}

/** @returns undefined if the text that comes out does not parse: `leftCalls` has grown then */
function finished(source: Source, used: readonly Imports[]): Migration | undefined {
  const { rewritten } = source
  const peers = used.map(({ from }) => from)
  if (peers.length === 0) return { peers, rewritten: 0, left: [], text: source.text }
  noteBesides(source)
  noteIdle(source, used)
  try {
    const text = withoutUnused(source, finishedText(source))
    return { peers, rewritten: rewritten.length, left: source.left, text }
  } catch (error) {
    // Edits may also be in each other's way.
    if (rewritten.length === 0) throw error
    for (const call of rewritten) source.giveUp(call, BROKEN)
    return undefined
  }
}

const BROKEN =
  'With the other calls of this file it would become code that may not parse. Rewrite it by hand: https://sluicejs.github.io/sluice/migrating has every name.'
