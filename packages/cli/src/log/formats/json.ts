import type { Fields } from './record.ts'

/** The object of JSON in a line; a text: why there is none. */
export function jsonFields(line: string): Fields | string {
  let fields: unknown
  try {
    fields = JSON.parse(line)
  } catch {
    return 'no JSON'
  }
  const isObject = typeof fields === 'object' && fields !== null && !Array.isArray(fields)
  return isObject ? (fields as Fields) : 'no JSON object'
}
