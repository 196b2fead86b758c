export interface CommandStat {
  readonly calls: number
  /** CPU time of all the calls together, in microseconds. */
  readonly usec: number
}

/** The lines `field:value` of an INFO reply. */
export function parseInfo(text: string): Record<string, string> {
  const pairs = text
    .split('\r\n')
    .filter((line) => line.includes(':'))
    .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)])
  return Object.fromEntries(pairs)
}

/** The statistics of INFO commandstats, by command in lower case; a subcommand is `config|get`. */
export function parseCommandStats(info: Record<string, string>): Record<string, CommandStat> {
  const stats = Object.entries(info).map(([field, value]) => {
    const { calls, usec } = Object.fromEntries(value.split(',').map((pair) => pair.split('=')))
    return [field.replace('cmdstat_', ''), { calls: Number(calls), usec: Number(usec) }]
  })
  return Object.fromEntries(stats)
}

/** User and system time of the whole process from INFO cpu, in microseconds. */
export function parseCpuMicros(info: Record<string, string>): number {
  return Math.round((Number(info.used_cpu_user) + Number(info.used_cpu_sys)) * 1e6)
}
