/** A colour of the theme as it is now, for a chart to ask at each drawing. */
export function colour(property: `--${string}`): () => string {
  return () => getComputedStyle(document.documentElement).getPropertyValue(property)
}

/**
 * A colour of the page, see-through.
 * @param share how much of the colour is left, 0 … 1
 */
export function faint(property: `--${string}`, share: number): () => string {
  const full = colour(property)
  return () => `color-mix(in srgb, ${full()} ${share * 100}%, transparent)`
}
