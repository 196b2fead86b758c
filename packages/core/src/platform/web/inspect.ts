import type { Platform } from '../platform.ts'

/** Entries that are read of an object: messages are cut shorter. */
const MAX_ENTRIES = 100

/** Prints primitives, lists and plain objects as Node's `inspect` does, and less of others. */
export const inspect: Platform['inspect'] = (value, maxStringLength = Infinity) =>
  typeof value === 'object' && value !== null
    ? objectText(value, false)
    : primitiveText(value, maxStringLength)

function primitiveText(value: unknown, maxStringLength = Infinity): string {
  if (typeof value === 'string') return quoted(value, maxStringLength)
  if (typeof value === 'function')
    return `[Function${value.name ? `: ${value.name}` : ' (anonymous)'}]`
  if (typeof value === 'bigint') return `${value}n`
  return Object.is(value, -0) ? '-0' : String(value)
}

function objectText(value: object, isNested: boolean): string {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString()
  if (value instanceof Error) return String(value)
  const properties = Object.entries(Object.getOwnPropertyDescriptors(value))
    .filter(([, { enumerable }]) => enumerable)
    .slice(0, MAX_ENTRIES)
  const name = Object.getPrototypeOf(value)?.constructor?.name
  if (isNested && properties.length > 0) return `[${name ?? 'Object: null prototype'}]`
  const isArray = Array.isArray(value)
  const shown = properties.map(([key, each]) => (isArray ? '' : `${key}: `) + propertyText(each))
  const inside = shown.length === 0 ? '' : ` ${shown.join(', ')} `
  if (isArray) return `[${inside}]`
  const prefix = name === undefined ? '[Object: null prototype] ' : `${name} `
  return `${name === 'Object' ? '' : prefix}{${inside}}`
}

function propertyText(property: PropertyDescriptor): string {
  // To read it could throw.
  if (!('value' in property)) return '[Getter]'
  const { value } = property
  return typeof value === 'object' && value !== null
    ? objectText(value, true)
    : primitiveText(value)
}

function quoted(text: string, most: number): string {
  const shown = text.slice(0, most)
  const quote = [`'`, '"', '`'].find((each) => !shown.includes(each)) ?? `'`
  const escaped = JSON.stringify(shown).slice(1, -1).replaceAll('\\"', '"')
  const more = text.length - shown.length
  return `${quote}${escaped}${quote}${more === 0 ? '' : `... ${more} more characters`}`
}
