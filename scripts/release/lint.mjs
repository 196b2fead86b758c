// publint and arethetypeswrong over all tarballs in this process: a process for each would load the
// TypeScript compiler as often.

import { readFileSync } from 'node:fs'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'

/** @returns one line for each problem that the tools find */
export async function lint(packed) {
  const problems = []
  for (const { path, manifest } of packed) {
    const data = readFileSync(path)
    const tarball = data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength)
    const { messages, pkg } = await publint({ pack: { tarball }, strict: true })
    problems.push(...messages.map((each) => `${manifest.name}: ${formatMessage(each, pkg)}`))
    if (manifest.exports === undefined) continue
    const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(data)))
    problems.push(...analysis.problems.map((each) => `${manifest.name}: ${JSON.stringify(each)}`))
    if (analysis.types === false) problems.push(`${manifest.name}: has no types`)
  }
  return problems
}
