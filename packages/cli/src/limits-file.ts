import { readFileSync } from 'node:fs'
import type { PolicySettings } from '@sluice/core/operator'
import { messageOf } from '@sluice/terminal/say'
import { UsageError } from '@sluice/terminal/usage-error'

/** The largest file that is taken, bytes: more than a store keeps. */
const MAX_BYTES = 1_000_000

/** The settings of policies, by their names. */
export type LimitsFile = Readonly<Record<string, PolicySettings>>

/**
 * Reads the settings of a JSON file: `{ "policies": { "api": { "limit": 200 } } }`. The
 * settings are checked where they are used.
 *
 * @throws UsageError
 */
export function readLimitsFile(file: string): LimitsFile {
  const given = parsed(file, textOf(file))
  if (!isObject(given)) throw wrong(file, 'an object such as { "policies": { "api": { … } } }')
  const { $schema = '', policies, ...others } = given
  const [unknown] = Object.keys(others)
  if (unknown !== undefined)
    throw wrong(file, `no more than policies and $schema, not '${unknown}'`)
  if (typeof $schema !== 'string') throw wrong(file, 'an address, or a path, as $schema')
  if (!isObject(policies))
    throw wrong(file, 'policies: an object with the settings of each by its name')
  return policies as LimitsFile
}

function textOf(file: string): string {
  let bytes: Buffer
  try {
    bytes = readFileSync(file)
  } catch (error) {
    throw new UsageError(`${file} can't be read: ${messageOf(error)}`)
  }
  if (bytes.length <= MAX_BYTES) return bytes.toString()
  throw wrong(file, `at most ${MAX_BYTES} bytes`)
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (error) {
    throw wrong(file, `JSON: ${messageOf(error)}`)
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function wrong(file: string, expected: string): UsageError {
  return new UsageError(`${file}: expected ${expected}`)
}
