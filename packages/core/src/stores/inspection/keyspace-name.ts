import type { AlgorithmOption } from '../../algorithms/algorithm.ts'
import { CALENDAR_UNITS } from '../../algorithms/calendar-window/calendar.ts'

/** A policy, as the name of its keyspace describes it. */
export interface KeyspaceName {
  readonly algorithm: string
  readonly windowMs: number
  /** Units per window. Undefined: it is a function of the request. */
  readonly limit: number | undefined
  /** The algorithm's own options, where they differ from its defaults: units, ms. */
  readonly own: { readonly [option in AlgorithmOption]?: number | undefined }
  /** See `CompiledLimit.scale`. */
  readonly scale: string
  /** The name of the policy, 1 to 128 printable ASCII characters. */
  readonly policy: string
}

const VARYING = '*'

/** `sliding-window:60000:100:default`, `token-bucket:1000:5,burst=20/200:burst` */
export function formatKeyspace(name: KeyspaceName): string {
  const { algorithm, windowMs, limit, own, scale, policy } = name
  const options = Object.entries(own)
    .filter(([, value]) => value !== undefined)
    .map(([option, value]) => `,${option}=${value}`)
    .join('')
  const terms = `${limit ?? VARYING}${limit === undefined ? '' : options}`
  return `${algorithm}:${windowMs}:${terms}${scale === '' ? '' : `/${scale}`}:${policy}`
}

const CALENDAR = `(?:${CALENDAR_UNITS.join('|')}):(?:[+-]\\d\\d:\\d\\d|[^:]+):(?:\\d+|\\*)`
const NAME = new RegExp(
  `^([a-z-]+):(\\d+):(\\d+|\\*)((?:,\\w+=\\d+)*)(?:/(\\d+(?:of\\d+)?|${CALENDAR}))?:([\\x20-\\x7e]{1,128})$`,
)

/** What {@link formatKeyspace} wrote; undefined for any other text. */
export function parseKeyspace(text: string): KeyspaceName | undefined {
  const parts = NAME.exec(text)
  if (parts === null) return undefined
  const [, algorithm, windowMs, limit, options, scale = '', policy] = parts as string[]
  return {
    algorithm: algorithm as string,
    windowMs: Number(windowMs),
    limit: limit === VARYING ? undefined : Number(limit),
    own: Object.fromEntries(
      [...(options as string).matchAll(/,(\w+)=(\d+)/g)].map(([, option, value]) => [
        option,
        Number(value),
      ]),
    ),
    scale,
    policy: policy as string,
  }
}

/** What the name of the keyspace of a limiter's bans tells. */
export interface BanName {
  /** Whether the limiter only tries them: its bans refuse nothing. */
  readonly dryRun: boolean
  readonly windowMs: number
  /** How many refusals lead to a ban. */
  readonly limit: number
  /** The keyspace of the limiter's first policy. */
  readonly quota: string
}

/** `ban:3600000:3:sliding-window:60000:100:default` */
export function formatBan({ dryRun, windowMs, limit, quota }: BanName): string {
  return `${dryRun ? 'dry-' : ''}ban:${windowMs}:${limit}:${quota}`
}

/** What {@link formatBan} wrote; undefined for any other text. */
export function parseBan(text: string): BanName | undefined {
  const parts = /^(dry-)?ban:(\d+):(\d+):(.+)$/.exec(text)
  if (parts === null) return undefined
  const [, dry, windowMs, limit, quota] = parts
  return {
    dryRun: dry !== undefined,
    windowMs: Number(windowMs),
    limit: Number(limit),
    quota: quota as string,
  }
}
