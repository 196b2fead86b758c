import { SluiceError } from '@sluice/core'
import { byteLength, warnOnce } from '@sluice/core/internal'
import { type MediaTokens, mediaIn, tokensOf } from './media.ts'

/** The bytes of a token in English prose and in code, by the tokenizers of the large models. */
const BYTES_PER_TOKEN = 4

/** A number, true, false or null counts as this many bytes. */
const BYTES_OF_SCALAR = 4

/** Values of a body that are looked at: more than any prompt has. */
const MAX_VALUES = 100_000

/** UTF-16 units of a body whose bytes are counted; of what is beyond, each is held for the most. */
const MAX_COUNTED = 8_000_000
const MAX_BYTES_PER_UNIT = 3

/**
 * Estimates how many tokens a text has for a language model: its UTF-8 bytes, divided by four and
 * rounded up. It runs no tokenizer: use it for `cost`, and correct it with `settle`. Its error
 * depends on the language (docs/settle.md); a text never has more tokens than bytes, four times the
 * estimate. Beyond eight million characters, each one counts three bytes. Images, recordings and
 * files in a body's messages have their own estimates.
 *
 * @param textOrBody text, bytes, or a parsed JSON body, whose texts, names and numbers all count.
 *   Undefined and null count 0, with a warning: a body that is not yet parsed is undefined. A body
 *   of more than 100,000 values gives 2^53 − 1, which no limit admits.
 * @param mediaTokens returns the tokens of an image, a recording or a file; if it returns
 *   undefined, Sluice estimates
 * @throws SluiceError for anything else
 */
export function estimateTokens(textOrBody: unknown, mediaTokens?: MediaTokens): number {
  if (textOrBody === undefined || textOrBody === null) {
    warnOnce(
      'SLUICE_BODY_MISSING',
      'estimateTokens was called without a body, so its request costs 0 tokens. Some requests have ' +
        'none. If all are like that, let the body be parsed before the limiter runs: in Express and ' +
        "Koa register the parser first, in Fastify choose hook: 'preValidation'.",
    )
    return 0
  }
  return Math.min(
    Math.ceil(bytesOf(textOrBody, mediaTokens) / BYTES_PER_TOKEN),
    Number.MAX_SAFE_INTEGER,
  )
}

function bytesOf(given: unknown, mediaTokens?: MediaTokens): number {
  if (typeof given === 'string') return bytesOfText(given, MAX_COUNTED)
  if (ArrayBuffer.isView(given)) return given.byteLength
  if (Array.isArray(given) || isPlain(given)) return bytesOfBody(given as object, mediaTokens)
  throw new SluiceError({
    code: 'SLUICE_OPTION_TYPE',
    option: 'textOrBody',
    expected: 'text, bytes, or a parsed JSON body',
    received: given,
    fix: 'Pass the body of the request, or the part of it that the model reads.',
  })
}

/** Counts the bytes of a parsed body, without recursion: a body can be nested as deep as it is long. */
function bytesOfBody(body: object, mediaTokens?: MediaTokens): number {
  const pending: object[] = [body]
  /** What is no text, by the object that has it. */
  const media = new Map<object, unknown>()
  let bytes = 0
  let values = 0
  let counted = 0
  const add = (text: string) => {
    bytes += bytesOfText(text, MAX_COUNTED - counted)
    counted = Math.min(MAX_COUNTED, counted + text.length)
  }
  for (let each = pending.pop(); each !== undefined; each = pending.pop()) {
    if (!Array.isArray(each)) {
      const part = media.has(each) ? undefined : mediaIn(each)
      if (part !== undefined) {
        media.set(part.owner, part.data)
        bytes += tokensOf(part, mediaTokens) * BYTES_PER_TOKEN
      }
      for (const name of Object.keys(each)) add(name)
    }
    for (const value of Array.isArray(each) ? each : Object.values(each)) {
      values += 1
      if (value !== undefined && value === media.get(each)) continue
      if (values > MAX_VALUES) return Infinity
      if (typeof value === 'string') add(value)
      else if (ArrayBuffer.isView(value)) bytes += value.byteLength
      else if (typeof value === 'object' && value !== null) pending.push(value)
      else bytes += BYTES_OF_SCALAR
    }
  }
  return bytes
}

/** @param most UTF-16 units to count */
function bytesOfText(text: string, most: number): number {
  if (text.length <= most) return byteLength(text)
  return byteLength(text.slice(0, most)) + (text.length - most) * MAX_BYTES_PER_UNIT
}

function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}
