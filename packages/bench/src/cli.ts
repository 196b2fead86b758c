import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { MISSING, machine, versions } from './environment.ts'
import { measureHttp } from './http/http.ts'
import { measureMemory } from './memory/memory.ts'
import { type Options, type Part, parseOptions, USAGE } from './options.ts'
import { fullPlan, type Plan, quickPlan } from './plan.ts'
import { bundleScripts } from './processes/bundle.ts'
import { measureRedis } from './redis/redis.ts'
import { toChart } from './report/chart.ts'
import type { Findings, Results } from './report/results.ts'
import { toMarkdown } from './report/tables.ts'

const MEASURES: {
  readonly [part in Part]: (plan: Plan, log: (line: string) => void) => Promise<Findings>
} = {
  memory: measureMemory,
  redis: measureRedis,
  http: measureHttp,
}

/** On one line, which the next one takes, where somebody looks. */
function progress(line: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${line}`)
}

async function measure({ parts, quick }: Options): Promise<Results> {
  const begun = Date.now()
  const software = await versions()
  if (parts.includes('http') && software.wrk === MISSING) {
    throw new Error('the load comes from wrk: apt-get install wrk, or brew install wrk')
  }
  await bundleScripts()
  const findings: Findings[] = []
  for (const part of parts) {
    console.error(`measuring: ${part}`)
    findings.push(await MEASURES[part](quick ? quickPlan : fullPlan, progress))
    progress('')
  }
  return {
    date: new Date(begun).toISOString(),
    seconds: (Date.now() - begun) / 1000,
    machine: machine(),
    versions: software,
    measurements: findings.flatMap(({ measurements }) => measurements),
    bars: findings.flatMap(({ bars }) => bars),
  }
}

/** Paths are as they were typed: relative to where npm was called. */
function path(name: string): string {
  return resolve(process.env.INIT_CWD ?? '', name)
}

async function main(options: Options): Promise<void> {
  const results = options.from
    ? (JSON.parse(readFileSync(path(options.from), 'utf8')) as Results)
    : await measure(options)
  console.log(toMarkdown(results))
  if (options.json) writeFileSync(path(options.json), `${JSON.stringify(results, null, 2)}\n`)
  if (options.svg) writeFileSync(path(options.svg), toChart(results))
  if (options.markdown) writeFileSync(path(options.markdown), `${toMarkdown(results)}\n`)
}

try {
  await main(parseOptions(process.argv.slice(2)))
} catch (error) {
  console.error(`${(error as Error).stack}\n\n${USAGE}`)
  process.exitCode = 1
}
