/** The value below which the given share (0 … 1) of the samples lies, interpolated. */
export function quantile(samples: readonly number[], share: number): number {
  if (samples.length === 0) throw new RangeError('no samples')
  const sorted = samples.toSorted((a, b) => a - b)
  const place = share * (sorted.length - 1)
  const below = Math.floor(place)
  const lower = sorted[below] as number
  const upper = sorted[Math.ceil(place)] as number
  return lower === upper ? lower : lower + (upper - lower) * (place - below)
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5)
}

/** How wide the middle half of the samples lies. */
export function interquartileRange(samples: readonly number[]): number {
  return quantile(samples, 0.75) - quantile(samples, 0.25)
}
