// npm run mutate -- packages/core/src/key: breaks one line after the other of the sources there, runs their tests,
// and says which breaks none of them notices. No file is changed.

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import process, { argv, exit } from 'node:process'
import { parseArgs } from 'node:util'
import { ensureInstalled } from './install.mjs'
import { secondsSince } from './log.mjs'
import { findRedis } from './programs/redis.mjs'
import { root } from './workspace.mjs'

const HELP = `npm run mutate -- [options] PATH...

Breaks one line after the other of the sources in these files and folders, runs the tests of each, and
prints the breaks that none of them notices. No file is changed.

  --tests PATTERN  the tests that should notice, by a part of their paths. Default: those of the same package
                   that import the source, the ones beside it first, and those of the stores, of Express
                   and of Hono
  --every          every break of a line, in place of the one that says most
  --sample N       N of the breaks of all sources, the same ones each time
  --part I/N       the Ith of N parts of the breaks, from 1, to share the work
  --help`

const options = {
  tests: { type: 'string' },
  every: { type: 'boolean', default: false },
  sample: { type: 'string' },
  part: { type: 'string', default: '1/1' },
  help: { type: 'boolean', default: false },
}

/** What is for tests, and what is generated. */
const FOR_TESTS = /\.(test|d|generated)\.ts$|\/testing\/|\/traces\.ts$/
/** The suites of the stores and of the adapters, in packages of their own. */
const SUITES =
  /^packages\/(express|hono|system-tests\/src\/(stores|frameworks|policies|overload|leaving|events))\//
/** How many of the nearest test files run first: most breaks show there. */
const NEAREST = 5
/** A break may make a loop endless: a run may take so many times what it takes without, and this, ms. */
const SLOWER = 4
const MORE_MS = 20_000

const { values, positionals } = parsed()
if (values.help || positionals.length === 0) {
  console.log(HELP)
  exit(values.help ? 0 : 2)
}
await ensureInstalled()
const { mutantsOf } = await import('./mutate/mutants.mjs')
const redis = await findRedis()
const folder = mkdtempSync(join(tmpdir(), 'sluice-mutate-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => exit(1))

const began = Date.now()
const counts = { noticed: 0, unnoticed: 0 }
/** How long each test file takes without a break, ms; of those that have run. */
const durations = new Map()
for (const [path, mutants] of chosen(await sourcesIn(positionals))) await breakFile(path, mutants)
const { noticed, unnoticed } = counts
console.log(
  `${noticed} of ${noticed + unnoticed} breaks are noticed, ${unnoticed} are not, ${secondsSince(began)}`,
)

function parsed() {
  try {
    return parseArgs({ options, allowPositionals: true, args: argv.slice(2) })
  } catch (error) {
    console.error(`${error.message}\n\n${HELP}`)
    exit(2)
  }
}

/** The sources that git knows there: no tests, what is for tests, and what is generated. */
async function sourcesIn(paths) {
  const { output } = await start('git', ['ls-files', ...paths])
  return output.split('\n').filter((path) => /\.ts$/.test(path) && !FOR_TESTS.test(path))
}

/** @returns each source that has breaks to make, with those */
function chosen(paths) {
  const all = paths.flatMap((path) =>
    mutantsOf(readFileSync(join(root, path), 'utf8'), values.every).map((mutant) => ({
      path,
      ...mutant,
    })),
  )
  const [part, parts] = values.part.split('/').map(Number)
  const mine = sampled(all).filter((_, i) => i % parts === part - 1)
  const groups = paths.map((path) => [path, mine.filter((mutant) => mutant.path === path)])
  return groups.filter(([, mutants]) => mutants.length > 0)
}

/** As many as `--sample` says: those whose hashes are the smallest, so a larger sample has the smaller one's. */
function sampled(all) {
  if (values.sample === undefined) return all
  const hashOf = ({ path, line, by }) =>
    createHash('md5').update(`${path}:${line}:${by}`).digest('hex')
  const hashes = new Map(all.map((mutant) => [mutant, hashOf(mutant)]))
  const least = [...all].sort((one, other) => (hashes.get(one) < hashes.get(other) ? -1 : 1))
  const taken = new Set(least.slice(0, Number(values.sample)))
  return all.filter((mutant) => taken.has(mutant))
}

async function breakFile(path, mutants) {
  const tests = await testsOf(path)
  const stages = [tests.slice(0, NEAREST), tests.slice(NEAREST)].filter((each) => each.length > 0)
  console.log(`${path}: ${mutants.length} breaks, ${tests.length} test files`)
  if (stages.length === 0) return
  for (const mutant of mutants) {
    if (await isNoticed(mutant.broken, path, stages)) {
      counts.noticed += 1
      continue
    }
    counts.unnoticed += 1
    console.log(`  ${path}:${mutant.line}  ${oneLine(mutant.was)}  →  ${oneLine(mutant.by)}`)
  }
}

async function isNoticed(text, path, stages) {
  for (const tests of stages) {
    await time(tests)
    const usual = tests.reduce((sum, test) => sum + durations.get(test), 0)
    const mutant = { file: resolve(root, path), text }
    if ((await play(tests, SLOWER * usual + MORE_MS, mutant)).code !== 0) return true
  }
  return false
}

/** Runs those of these tests that have not run yet without a break. */
async function time(tests) {
  const unknown = tests.filter((test) => !durations.has(test))
  if (unknown.length === 0) return
  const { code, output, results } = await play(unknown, 600_000)
  if (code !== 0) {
    console.error(`${output}\nThese tests fail without a break too.`)
    exit(1)
  }
  for (const { name, startTime, endTime } of results)
    durations.set(relative(root, name), endTime - startTime)
}

/** The tests that import a source, the nearest first. */
async function testsOf(path) {
  const [, own] = /^(packages\/[^/]+\/)/.exec(path) ?? []
  const { output } = await start('jest', ['--listTests', '--findRelatedTests', path])
  const all = output.split('\n').filter((each) => each.startsWith(root))
  const names = all.map((each) => relative(root, each)).sort()
  const isWanted = (name) =>
    values.tests === undefined
      ? name.startsWith(own ?? '') || SUITES.test(name)
      : name.includes(values.tests)
  const distance = (test) => relative(path, test).split('..').length
  return names.filter(isWanted).sort((one, other) => distance(one) - distance(other))
}

/** Runs tests, up to the first that fails, with the text of a mutant in the place of its source. */
async function play(tests, withinMs, mutant) {
  const [broken, report] = ['mutant.json', 'report.json'].map((name) => join(folder, name))
  if (mutant !== undefined) writeFileSync(broken, JSON.stringify(mutant))
  const env = { REDIS_SERVER: redis, ...(mutant && { SLUICE_MUTANT: broken }) }
  const args = ['--ci', '--bail', '--silent', '--json', '--outputFile', report]
  const { code, output } = await start(
    'jest',
    [...args, '--runTestsByPath', ...tests],
    env,
    withinMs,
  )
  return {
    code,
    output,
    results: mutant ? [] : JSON.parse(readFileSync(report, 'utf8')).testResults,
  }
}

/** Runs a tool to its end, or ends it with all that it has started. */
function start(command, args, env = {}, withinMs = 60_000) {
  const path = `${join(root, 'node_modules', '.bin')}:${process.env.PATH}`
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, PATH: path, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  const end = () => {
    try {
      process.kill(-child.pid, 'SIGKILL')
    } catch (error) {
      if (error.code !== 'ESRCH') throw error
    }
  }
  const late = setTimeout(end, withinMs)
  process.on('exit', end)
  return new Promise((done) => {
    child.on('close', (code) => {
      clearTimeout(late)
      process.off('exit', end)
      // Jest leaves a worker whose test does not end, such as one with an endless loop.
      end()
      done({ code, output })
    })
  })
}

function oneLine(text) {
  const line = text.replace(/\s+/g, ' ')
  return line.length > 60 ? `${line.slice(0, 59)}…` : line
}
