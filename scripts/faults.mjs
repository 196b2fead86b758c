// node scripts/faults.mjs: causes every fault and prints the measurements as tables, which it also writes into
// docs/failures.md.
// node scripts/faults.mjs NAME: only the faults whose file has this name, such as mysql

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { argv, exit } from 'node:process'
import { ensureInstalled } from './install.mjs'
import { jest } from './jest.mjs'
import { findMysql } from './programs/mysql.mjs'
import { otherNode } from './programs/node.mjs'
import { findPostgres } from './programs/postgres.mjs'
import { findRedis } from './programs/redis.mjs'
import { root } from './workspace.mjs'

const END = '<!-- /figures -->'

/** @param {number | undefined} ms */
const time = (ms) => (ms === undefined ? '–' : `${ms} ms`)

const LIMITS = {
  head: ['fault', 'longest wait', 'beyond the limit', 'normal again after'],
  row: ({ fault, waitedMs, excess, bound, normalMs }) => {
    const beyond = excess === undefined ? '–' : `${excess} of ${bound}`
    return [fault, time(waitedMs), beyond, time(normalMs)]
  },
}

/** The tables of the page: where each begins, and its columns. */
const TABLES = {
  limits: { start: '<!-- figures: made by node scripts/faults.mjs -->', ...LIMITS },
  postgres: { start: '<!-- figures of PostgreSQL: made by node scripts/faults.mjs -->', ...LIMITS },
  mysql: { start: '<!-- figures of MySQL: made by node scripts/faults.mjs -->', ...LIMITS },
  sqlite: { start: '<!-- figures of SQLite: made by node scripts/faults.mjs -->', ...LIMITS },
  slots: {
    start: '<!-- figures of requests in progress: made by node scripts/faults.mjs -->',
    head: ['fault', 'in progress at the same time', 'exact again after'],
    row: ({ fault, most, bound, exactMs }) => [fault, `${most} of ${bound}`, time(exactMs)],
  },
}

/**
 * @param {typeof TABLES[keyof typeof TABLES]} table
 * @param {object[]} figures of this table
 */
function tableOf({ head, row }, figures) {
  figures.sort((a, b) => a.row - b.row)
  const line = (cells) => `| ${cells.join(' | ')} |`
  const rule = `|${head.map(() => '---|').join('')}`
  // What a fault does not change, the page names without figures.
  const changed = figures.filter(({ bound, normalMs }) => bound !== 0 || normalMs !== undefined)
  return [line(head), rule, ...changed.map((each) => line(row(each)))].join('\n')
}

const redis = await findRedis()
await findPostgres()
await findMysql()
await ensureInstalled()
const folder = mkdtempSync(join(tmpdir(), 'sluice-faults-'))
const file = join(folder, 'figures')
// The faults of SQLite need a Node that has it.
const other = process.getBuiltinModule('node:sqlite') ? undefined : otherNode('node@24')
const env = { REDIS_SERVER: redis, SLUICE_FIGURES: file, ...(other && { PATH: other.path }) }
const { code, skipped } = await jest(
  ['-i', `packages/system-tests/src/faults/${argv[2] ?? ''}`],
  env,
)
if (existsSync(file)) {
  const figures = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const page = join(root, 'docs', 'failures.md')
  let text = readFileSync(page, 'utf8')
  for (const [name, table] of Object.entries(TABLES)) {
    const own = figures.filter((each) => each.table === name)
    if (own.length === 0) continue
    const written = tableOf(table, own)
    console.log(written)
    const from = text.indexOf(table.start)
    const generated = text.slice(from, text.indexOf(END, from))
    text = text.replace(generated, () => `${table.start}\n${written}\n`)
  }
  if (code === 0 && skipped === 0) writeFileSync(page, text)
}
rmSync(folder, { recursive: true })
exit(code)
