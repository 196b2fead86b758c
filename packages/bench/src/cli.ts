import { join } from 'node:path'
import { measureCluster, measureRedis } from './decisions/redis.ts'
import { machine, PACKAGES, versionsOf } from './environment.ts'
import { measureHttp } from './http/http.ts'
import { measureMemory } from './memory/memory.ts'
import { isFull, type Options, type Part, parseOptions, USAGE } from './options.ts'
import { fullPlan, type Plan, quickPlan } from './plan.ts'
import { home, install } from './processes/install.ts'
import { readResults, writeDocuments } from './report/documents.ts'
import type { Measurement, Results } from './report/results.ts'
import { toMarkdown } from './report/tables.ts'

const ROOT = join(home, '../..')

const MEASURES: {
  readonly [part in Part]: (plan: Plan, log: (line: string) => void) => Promise<Measurement[]>
} = {
  memory: measureMemory,
  redis: measureRedis,
  cluster: measureCluster,
  http: measureHttp,
}

/** Shows progress on one line, which the next one takes, where somebody looks. */
function progress(line: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${line}`)
}

async function measure({ parts, quick }: Options): Promise<Results> {
  const begun = Date.now()
  const facts = machine()
  await install()
  const measurements: Measurement[] = []
  for (const part of parts) {
    const from = Date.now()
    measurements.push(...(await MEASURES[part](quick ? quickPlan : fullPlan, progress)))
    progress('')
    console.error(`${part}: ${Math.round((Date.now() - from) / 1000)} s`)
  }
  return {
    date: new Date(begun).toISOString(),
    seconds: (Date.now() - begun) / 1000,
    machine: facts,
    versions: await versionsOf(PACKAGES),
    measurements,
  }
}

async function main(options: Options): Promise<void> {
  const results = options.render ? readResults(ROOT) : await measure(options)
  console.log(toMarkdown(results))
  if (options.render || isFull(options)) writeDocuments(results, ROOT)
}

try {
  await main(parseOptions(process.argv.slice(2)))
} catch (error) {
  console.error(`${(error as Error).stack}\n\n${USAGE}`)
  process.exitCode = 1
}
