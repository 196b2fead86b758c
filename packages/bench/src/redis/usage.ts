import type { Redis } from 'ioredis'

/** The usage of Redis servers since their start. */
export interface Usage {
  /** User and system time of the processes, µs. */
  readonly cpuMicros: number
  /** Time in scripts, as `INFO commandstats` has it, µs. */
  readonly scriptMicros: number
  /** Runs of a script. */
  readonly calls: number
  /** Bytes on the wire, in and out. */
  readonly bytes: number
}

const SECTIONS = ['commandstats', 'stats', 'cpu']

/** The usage of all these servers together. CPU time is the last reading. */
export async function usageOf(servers: readonly Redis[]): Promise<Usage> {
  const texts: string[] = []
  for (const section of SECTIONS) {
    texts.push(...(await Promise.all(servers.map((server) => server.info(section)))))
  }
  return parseUsage(texts.join('\r\n'))
}

/** @param info what `INFO` said, of several servers too */
export function parseUsage(info: string): Usage {
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
