// npm run faults: causes every fault and prints the measurements as one table, which it also writes
// into docs/failures.md.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exit } from 'node:process'
import { ensureInstalled } from './install.mjs'
import { jest } from './jest.mjs'
import { findRedis } from './redis.mjs'
import { root } from './workspace.mjs'

const START = '<!-- figures: made by npm run faults -->'
const END = '<!-- /figures -->'

/** @param {string} lines a figure in JSON on each */
function tableOf(lines) {
  const figures = lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  figures.sort((a, b) => a.row - b.row)
  const rows = figures.map(({ fault, waitedMs, excess, bound, normalMs }) => {
    const waited = waitedMs === undefined ? '–' : `${waitedMs} ms`
    const beyond = excess === undefined ? '–' : `${excess} of ${bound}`
    const normal = normalMs === undefined ? '–' : `${normalMs} ms`
    return `| ${fault} | ${waited} | ${beyond} | ${normal} |`
  })
  const head = '| fault | longest wait | beyond the limit | normal again after |'
  return [head, '|---|---|---|---|', ...rows].join('\n')
}

const redis = await findRedis()
await ensureInstalled()
const folder = mkdtempSync(join(tmpdir(), 'sluice-faults-'))
const file = join(folder, 'figures')
const env = { REDIS_SERVER: redis, SLUICE_FIGURES: file }
const { code, skipped } = await jest(['-i', 'packages/system-tests/src/faults'], env)
if (existsSync(file)) {
  const table = tableOf(readFileSync(file, 'utf8'))
  console.log(table)
  const page = join(root, 'docs', 'failures.md')
  const text = readFileSync(page, 'utf8')
  const generated = text.slice(text.indexOf(START), text.indexOf(END))
  if (code === 0 && skipped === 0)
    writeFileSync(
      page,
      text.replace(generated, () => `${START}\n${table}\n`),
    )
}
rmSync(folder, { recursive: true })
exit(code)
