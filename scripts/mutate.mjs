// npm run mutate -- packages/core/src/key: breaks one line after the other of the sources there, runs their tests,
// and says which breaks none of them notices. No file is changed.

import { spawn } from 'node:child_process'
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
                   that import the source, the ones beside it first, and those of the stores
  --every          every break of a line, in place of the one that says most
  --part I/N       the Ith of N parts of the breaks, from 1, to share the work
  --help`

const options = {
  tests: { type: 'string' },
  every: { type: 'boolean', default: false },
  part: { type: 'string', default: '1/1' },
  help: { type: 'boolean', default: false },
}

/** Every store's suite, in a package of its own. */
const SUITES = 'packages/system-tests/src/stores/'
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

const began = Date.now()
const counts = { noticed: 0, unnoticed: 0 }
for (const file of await sourcesIn(positionals)) await breakFile(file)
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
  return output
    .split('\n')
    .filter((path) => /\.ts$/.test(path) && !/\.(test|d|generated)\.ts$|\/testing\//.test(path))
}

async function breakFile(path) {
  const source = readFileSync(join(root, path), 'utf8')
  const [part, parts] = values.part.split('/').map(Number)
  const mutants = mutantsOf(source, values.every).filter((_, i) => i % parts === part - 1)
  const tests = await testsOf(path)
  const stages = [tests.slice(0, NEAREST), tests.slice(NEAREST)].filter((each) => each.length > 0)
  if (mutants.length === 0 || stages.length === 0)
    return console.log(`${path}: ${mutants.length} breaks, ${tests.length} test files`)
  console.log(`${path}: ${mutants.length} breaks, ${tests.length} test files`)
  const limits = []
  for (const mutant of mutants) {
    if (await isNoticed(mutant.broken, path, source, stages, limits)) {
      counts.noticed += 1
      continue
    }
    counts.unnoticed += 1
    console.log(`  ${path}:${mutant.line}  ${oneLine(mutant.was)}  →  ${oneLine(mutant.by)}`)
  }
}

/** @param limits how long each stage may take, ms; filled when a stage runs for the first time, without a break */
async function isNoticed(text, path, source, stages, limits) {
  for (const [i, tests] of stages.entries()) {
    if (limits[i] === undefined) {
      const started = Date.now()
      const { code, output } = await play(tests, path, source, 600_000)
      if (code !== 0) {
        console.error(`${output}\nThese tests fail without a break too.`)
        exit(1)
      }
      limits[i] = SLOWER * (Date.now() - started) + MORE_MS
    }
    if ((await play(tests, path, text, limits[i])).code !== 0) return true
  }
  return false
}

/** The tests that import a source, the nearest first. */
async function testsOf(path) {
  const [, own] = /^(packages\/[^/]+\/)/.exec(path) ?? []
  const { output } = await start('jest', ['--listTests', '--findRelatedTests', path])
  const all = output.split('\n').filter((each) => each.startsWith(root))
  const names = all.map((each) => relative(root, each)).sort()
  const wanted = values.tests === undefined ? [own ?? '', SUITES] : [values.tests]
  const distance = (test) => relative(path, test).split('..').length
  return names
    .filter((each) => wanted.some((part) => each.includes(part)))
    .sort((one, other) => distance(one) - distance(other))
}

/** Runs tests, up to the first that fails, with this text in the place of a source. */
function play(tests, path, text, withinMs) {
  const mutant = join(folder, 'mutant.json')
  writeFileSync(mutant, JSON.stringify({ file: resolve(root, path), text }))
  const env = { SLUICE_MUTANT: mutant, REDIS_SERVER: redis }
  return start('jest', ['--ci', '--bail', '--silent', '--runTestsByPath', ...tests], env, withinMs)
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
  const late = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), withinMs)
  const interrupt = () => process.kill(-child.pid, 'SIGTERM')
  process.once('SIGINT', interrupt)
  return new Promise((done) => {
    child.on('close', (code) => {
      clearTimeout(late)
      process.off('SIGINT', interrupt)
      done({ code, output })
    })
  })
}

function oneLine(text) {
  const line = text.replace(/\s+/g, ' ')
  return line.length > 60 ? `${line.slice(0, 59)}…` : line
}
