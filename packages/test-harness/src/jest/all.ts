/**
 * Whether `npm test -- --all` runs: then tests try more versions, more seeds and longer histories. Not once more with
 * the ES modules: what they differ in is how they are loaded.
 */
export const isAll = process.env.SLUICE_ALL === '1' && process.env.SLUICE_PACKED_FORMAT !== 'esm'
