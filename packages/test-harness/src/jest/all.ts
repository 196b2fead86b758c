/** Whether `npm test -- --all` runs: then tests try more versions, more seeds and longer histories. */
export const isAll = process.env.SLUICE_ALL === '1'
