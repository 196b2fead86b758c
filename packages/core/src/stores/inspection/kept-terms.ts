import type { AlgorithmParams } from '../../algorithms/algorithm.ts'
import { documentKey } from '../documents/document.ts'
import type { Keyspace } from '../store.ts'

/**
 * How long the terms of a keyspace are kept at least, ms, and how often a process writes them anew while it
 * uses them: so they are there soon if the store has lost them, or has those of a version that has ended.
 */
const KEPT_MS = 86_400_000
const RENEWED_MS = 600_000
/** When they are written again if the store did not take them, ms. */
const RETRY_MS = 60_000

/** `100`, `5,burst=20`, `5,maxDelay=500` */
export function formatTerms({ limit, burst, maxDelayMs }: AlgorithmParams): string {
  const options = burst === undefined ? '' : `,burst=${burst}`
  return `${limit}${options}${maxDelayMs === undefined ? '' : `,maxDelay=${maxDelayMs}`}`
}

/** What {@link formatTerms} wrote; undefined for any other text. */
export function parseTerms(
  text: string,
): Pick<AlgorithmParams, 'limit' | 'burst' | 'maxDelayMs'> | undefined {
  const parts = /^(\d+)(?:,burst=(\d+))?(?:,maxDelay=(\d+))?$/.exec(text)
  if (parts === null) return undefined
  const [limit, burst, maxDelayMs] = parts
    .slice(1)
    .map((part) => (part === undefined ? part : Number(part)))
  return { limit: limit as number, burst, maxDelayMs }
}

/** What to keep under a key. */
export interface KeptTerm {
  readonly key: string
  readonly text: string
}

/** Keeps terms for so long, ms, all under keys with `{#}`. */
type Write = (terms: readonly KeptTerm[], ttlMs: number) => Promise<void>

/** Keeps in a remote store, beside the states, what the limits are, for `inspect`: names of keys do not tell. */
export class KeptTerms {
  private readonly write: Write
  private readonly writing = new Set<Promise<void>>()

  constructor(write: Write) {
    this.write = write
  }

  /** The terms of a ledger's keyspaces. */
  of(keyspaces: readonly Keyspace[], prefix: string): LedgerTerms {
    return new LedgerTerms(keyspaces, prefix, (terms, ttlMs) => {
      const done = this.write(terms, ttlMs)
      const forget = () => this.writing.delete(done)
      this.writing.add(done)
      done.then(forget, forget)
      return done
    })
  }

  /** Resolves when all that is being written is there, or has failed. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.writing)
  }
}

/** The terms of one ledger's keyspaces. */
export class LedgerTerms {
  private readonly terms: readonly KeptTerm[]
  private readonly ttlMs: number
  private readonly write: Write
  /** When to call `keep`, by `performance.now()`, once the store has answered. */
  dueAt: number

  constructor(keyspaces: readonly Keyspace[], prefix: string, write: Write) {
    const windows = keyspaces.map(({ params }) => params?.windowMs ?? 0)
    this.terms = keyspaces.flatMap(({ prefix: own = prefix, name, params }) =>
      params === undefined ? [] : { key: documentKey(own, name), text: formatTerms(params) },
    )
    this.ttlMs = Math.max(KEPT_MS, 2 * Math.max(...windows))
    this.write = write
    this.dueAt = this.terms.length === 0 ? Infinity : 0
  }

  /** Writes them in the background. */
  keep(): void {
    const now = performance.now()
    this.dueAt = now + RENEWED_MS
    this.write(this.terms, this.ttlMs).catch(() => {
      this.dueAt = now + RETRY_MS
    })
  }
}
