// npm run simulate -- --seeds 10000
// npm run simulate -- --seeds 10000 --part 3: seeds 30001 to 40000
// npm run simulate -- --lua --seeds 10000: runs the scripts of the store in Redis
// npm run simulate -- --overload --seeds 200: sends a process more than it can do, 1,000 to 10,000 requests a seed
// npm run simulate -- --seed 4711: tells what happens in one
// npm run simulate -- --histories redis --calls 5000: judges the answers of a real store while it and the
// processes that use it are killed; or cluster, postgres, sqlite. So many calls, about, between two kills
// npm run simulate -- --model: lets Spin try all interleavings of a model of slots, and each of its mistakes

import { parseArgs } from 'node:util'
import { optimizeLater } from '@sluice/test-harness/processes'
import { compileCore } from './core.ts'
import { planOf } from './draw-plan.ts'
import { judge } from './histories/judge.ts'
import { record } from './histories/record.ts'
import { servers } from './histories/servers.ts'
import { checkModel, mutantsOfModel, whyNoSpin } from './model/check-model.ts'
import { loadOf } from './overload/load-plan.ts'
import { playLoad } from './overload/play.ts'
import { LuaMachine } from './redis/lua.ts'
import { type Explained, explain, search } from './search.ts'
import { simulate } from './simulation.ts'

const OPTIONS = {
  seeds: { type: 'string', default: '1000' },
  part: { type: 'string', default: '0' },
  seed: { type: 'string' },
  histories: { type: 'string' },
  calls: { type: 'string', default: '1000' },
  model: { type: 'boolean', default: false },
  lua: { type: 'boolean', default: false },
  overload: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

const HELP = `npm run simulate -- [options]

Plays processes, a network and a store under a virtual clock, and checks every decision.
How it works, and what it checks: docs/internals/testing.md

  --seeds N            plays the seeds 1 to N; default: 1000
  --part P             with --seeds N: the N seeds after the first P * N; default: 0
  --seed S             plays one, and tells what happens in it
  --lua                with --seeds or --seed: the store is a Redis, whose scripts run in Lua
  --overload           with --seeds: sends a process more requests than it can serve
  --histories STORE    judges the answers of a real store while it and the processes that use it are
                       killed: ${Object.keys(servers).join(', ')}
  --calls N            about so many between two kills; default: 1000
  --model              lets Spin try all interleavings of a model of slots (Debian: spin, gcc)
  --help`

optimizeLater()

const values = parsed()
const lua = values.lua ? await LuaMachine.create() : undefined
const from = integer('part', 0) * integer('seeds') + 1
if (values.help) console.log(HELP)
else if (values.seed !== undefined) await tell(integer('seed'))
else if (values.model) await checkModels()
else if (values.histories !== undefined) await judgeHistories(values.histories)
else await findNone(integer('seeds'))

function parsed() {
  try {
    return parseArgs({ options: OPTIONS }).values
  } catch (error) {
    return fail((error as Error).message)
  }
}

/** Ends the process: the command line is wrong. */
function fail(message: string): never {
  console.error(`${message}\n\n${HELP}`)
  process.exit(2)
}

async function tell(seed: number): Promise<void> {
  const plan = planOf(seed)
  const { story, failure } = await simulate(plan, await compileCore(), { tells: true, lua })
  console.log(JSON.stringify(plan.application))
  console.log(story.join('\n'))
  console.log(failure === undefined ? 'Nothing failed.' : `Failed: ${failure.check}`)
  process.exitCode = failure === undefined ? 0 : 1
}

async function findNone(seeds: number): Promise<void> {
  const started = performance.now()
  const cores = await compileCore()
  const play = (seed: number) =>
    values.overload ? playLoad(loadOf(seed), cores) : simulate(planOf(seed), cores, { lua })
  const { found, ...searched } = await search(play, from, seeds)
  const minutes = Math.round(searched.simulatedMs / 60_000)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(
    `${searched.seeds} seeds, ${minutes} simulated minutes, ${searched.events} events, ${seconds} s`,
  )
  if (found === undefined) return
  const { seed, failure } = found
  console.log(`Seed ${seed} failed at ${failure.at} ms, event ${failure.event}:`)
  console.log(`${failure.check}: ${failure.what}`)
  if (values.overload) console.log(JSON.stringify(loadOf(seed)))
  else printSmallest(await explain(found, cores, lua))
  process.exitCode = 1
}

async function checkModels(): Promise<void> {
  const reason = await whyNoSpin()
  if (reason !== undefined) return console.log(`Skipped: ${reason}`)
  for (const mutant of [undefined, ...(await mutantsOfModel())]) {
    const { states, violated } = await checkModel(mutant)
    console.log(`${mutant ?? 'the model'}: ${states} states, ${violated ?? 'no error'}`)
    if ((mutant === undefined) !== (violated === undefined)) process.exitCode = 1
  }
}

async function judgeHistories(store: string): Promise<void> {
  if (!(store in servers))
    fail(`--histories: expected one of ${Object.keys(servers).join(', ')}, received '${store}'`)
  const histories = await record(store, integer('calls'))
  for (const [key, { operations }] of histories) {
    const unanswered = operations.filter(({ isCertain }) => !isCertain).length
    console.log(`${key}: ${operations.length} operations, ${unanswered} without an answer`)
  }
  const { wrong, undecided } = judge(histories)
  if (undecided.length > 0) console.log(`Not judged, too many ways: ${undecided.join(', ')}`)
  for (const each of wrong) console.log(each)
  console.log(`${wrong.length} are wrong.`)
  process.exitCode = wrong.length > 0 ? 1 : 0
}

function printSmallest({ smallest, story }: Explained): void {
  console.log('The smallest plan that fails in this way, a line for regressions.jsonl:')
  console.log(JSON.stringify({ was: '', plan: smallest }))
  console.log('What happens in it, ms:')
  console.log(story.join('\n'))
}

function integer(option: 'calls' | 'part' | 'seed' | 'seeds', least = 1): number {
  const value = Number(values[option])
  if (!Number.isSafeInteger(value) || value < least)
    fail(`--${option}: expected an integer from ${least}, received '${values[option]}'`)
  return value
}
