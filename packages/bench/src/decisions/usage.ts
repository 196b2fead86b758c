import type { Redis } from 'ioredis'

/** Says what servers used while something ran. */
export type Meter<Usage> = <Result>(
  act: () => Promise<Result>,
) => Promise<{ result: Result; usage: Usage }>

/** The usage of Redis servers. */
export type RedisUsage = {
  /** User and system time of the processes, µs. */
  readonly cpuMicros: number
  /** Time in scripts, as `INFO commandstats` has it, µs. */
  readonly scriptMicros: number
  /** Runs of a script. */
  readonly calls: number
  /** Bytes on the wire, in and out. */
  readonly bytes: number
}

/** A server of a database, with the CPU time of each of its processes or threads so far, µs. */
export interface DatabaseServer {
  cpuMicros(): ReadonlyMap<number, number>
}

const SECTIONS = ['commandstats', 'stats', 'cpu']

/** Meters these servers together. */
export function redisMeter(servers: readonly Redis[]): Meter<RedisUsage> {
  return async (act) => {
    const before = await usageOf(servers)
    const result = await act()
    const after = await usageOf(servers)
    const usage = {
      cpuMicros: after.cpuMicros - before.cpuMicros,
      scriptMicros: after.scriptMicros - before.scriptMicros,
      calls: after.calls - before.calls,
      bytes: after.bytes - before.bytes,
    }
    return { result, usage }
  }
}

export function databaseMeter(server: DatabaseServer): Meter<{ readonly cpuMicros: number }> {
  return async (act) => {
    const before = server.cpuMicros()
    const result = await act()
    let cpuMicros = 0
    for (const [id, after] of server.cpuMicros()) cpuMicros += after - (before.get(id) ?? 0)
    return { result, usage: { cpuMicros } }
  }
}

/** The usage since the servers' start. CPU time is the last reading. */
async function usageOf(servers: readonly Redis[]): Promise<RedisUsage> {
  const texts: string[] = []
  for (const section of SECTIONS) {
    texts.push(...(await Promise.all(servers.map((server) => server.info(section)))))
  }
  return parseUsage(texts.join('\r\n'))
}

/** @param info what `INFO` said, of several servers too */
export function parseUsage(info: string): RedisUsage {
  const sum = (pattern: string) =>
    [...info.matchAll(new RegExp(`^${pattern}`, 'gm'))].reduce((all, [, n]) => all + Number(n), 0)
  const script = (field: string) => sum(`cmdstat_eval(?:sha)?:.*\\b${field}=(\\d+)`)
  return {
    cpuMicros: sum('used_cpu_(?:user|sys):([\\d.]+)') * 1e6,
    scriptMicros: script('usec'),
    calls: script('calls'),
    bytes: sum('total_net_(?:in|out)put_bytes:(\\d+)'),
  }
}

/** The CPU time that this process uses meanwhile, µs. */
export async function ownCpuMicros(act: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await act()
  const { user, system } = process.cpuUsage(before)
  return user + system
}
