// Jest's transform while `npm run mutate` runs: one file has another text, that of $SLUICE_MUTANT.

const { readFileSync } = require('node:fs')
const { createTransformer } = require('@swc/jest')

const { SLUICE_MUTANT } = process.env
const mutant = SLUICE_MUTANT ? JSON.parse(readFileSync(SLUICE_MUTANT, 'utf8')) : undefined

exports.createTransformer = (options) => {
  const swc = createTransformer(options)
  const textOf = (source, file) => (file === mutant?.file ? mutant.text : source)
  return {
    ...swc,
    process: (source, file, ...others) => swc.process(textOf(source, file), file, ...others),
    getCacheKey: (source, file, ...others) =>
      swc.getCacheKey(textOf(source, file), file, ...others),
  }
}
