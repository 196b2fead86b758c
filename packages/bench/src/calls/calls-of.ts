import type { Redis } from 'ioredis'
import type { Case } from './cases.ts'

/** The work of Redis for one case, by its own count. */
export interface CallsOf {
  /** The time of each call, in their order, µs. */
  readonly micros: readonly number[]
  /** The arguments of the call that has most, with the command's name. */
  readonly args: number
  /** The commands that a script ran, on average per call. */
  readonly commands: number
}

type Entry = readonly [id: number, at: number, micros: number, command: readonly string[]]

const CALL = /^(evalsha|eval|scan)$/i
const OF_MEASUREMENT = /^(config|info|slowlog)\b/
const STATISTICS = /^cmdstat_([^:]+):calls=(\d+),.*failed_calls=(\d+)/gm

/** Plays a case, in a Redis without keys. */
export async function callsOf(client: Redis, each: Case): Promise<CallsOf> {
  await client.flushall()
  const { run, limiter } = await each.prepare(client)
  await client.config('SET', 'slowlog-log-slower-than', '0', 'slowlog-max-len', '100000')
  await client.slowlog('RESET')
  await client.config('RESETSTAT')
  await run()
  const commands = commandsPerCall(await client.info('commandstats'))
  const entries = (await client.slowlog('GET', '100000')) as Entry[]
  limiter.close()
  const calls = entries.filter(([, , , [name = '']]) => CALL.test(name))
  return {
    micros: calls.toReversed().map(([, , micros]) => micros),
    args: Math.max(...calls.map(([, , , command]) => argumentsOf(command))),
    commands,
  }
}

/** An EVALSHA that fails is followed by an EVAL: the server did not know the script. */
function commandsPerCall(commandStats: string): number {
  let [calls, commands] = [0, 0]
  for (const [, name = '', count, failed] of commandStats.matchAll(STATISTICS)) {
    if (CALL.test(name)) calls += Number(count) - Number(failed)
    else if (!OF_MEASUREMENT.test(name)) commands += Number(count)
  }
  return commands / calls
}

/** SLOWLOG keeps 32 arguments: of more, the last one says how many. */
function argumentsOf(command: readonly string[]): number {
  const more = /^\.\.\. \((\d+) more arguments\)$/.exec(command.at(-1) ?? '')
  return command.length + (more ? Number(more[1]) - 1 : 0)
}
