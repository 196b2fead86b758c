/** Text that is shown as it is, characters: numbers, durations, dates and shares are shorter. */
const MAX_SHOWN = 24

/**
 * Describes a value that was given instead of the expected one, without its contents: a client's options
 * hold a password, a URL has one, and any text may be a secret that stands in the wrong place. Only
 * numbers are shown, and text that starts like one.
 */
export function describe(value: unknown): string {
  switch (typeof value) {
    case 'undefined':
      return 'undefined'
    case 'string':
      return textInWords(value)
    case 'bigint':
      return `${value}n (bigint)`
    case 'number':
      return `${Object.is(value, -0) ? '-0' : value} (number)`
    case 'boolean':
      return `${value} (boolean)`
    case 'object':
      return value === null ? 'null' : objectInWords(value)
    default:
      return `a ${typeof value}`
  }
}

/** Whether text can be quoted: empty, or a number with or without a unit: `5`, `-1m`, `10%`, `2026-02-29`. */
export function isShown(text: string): boolean {
  return (
    text.length <= MAX_SHOWN && /^([+-]?[\d.,:/_-]*\d[\d.,:/_-]* ?([a-z]{1,12}|%)?)?$/i.test(text)
  )
}

function textInWords(text: string): string {
  if (isShown(text)) return `'${text}' (string)`
  const [, scheme] = /^([a-z][a-z+]{1,15}:)\/\//i.exec(text) ?? []
  const length = `${text.length} ${text.length === 1 ? 'character' : 'characters'}`
  return scheme === undefined ? `text of ${length}` : `a URL (${scheme}) of ${length}`
}

function objectInWords(value: object): string {
  try {
    if (Array.isArray(value)) {
      return `an array of ${value.length} ${value.length === 1 ? 'entry' : 'entries'}`
    }
    // From the prototype: a property of the value itself may be anything.
    const { name } = Object.getPrototypeOf(value).constructor
    if (name !== 'Object' && /^\w{1,64}$/.test(name)) return `an object of class ${name}`
  } catch {
    // It has no prototype, or is a proxy that throws.
  }
  return 'an object'
}
