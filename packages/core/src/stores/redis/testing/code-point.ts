import fc from 'fast-check'

/** Draws any code point, half a surrogate pair too: fast-check's own unit `'binary'` takes 5 s to build. */
export const codePoint = fc.nat({ max: 0x10ffff }).map((point) => String.fromCodePoint(point))
