/** What a Redis server has used since its start. */
export interface Usage {
  /** User and system time of the process, µs. */
  readonly cpuMicros: number
  /** Runs of a script. */
  readonly calls: number
  /** On the wire, in and out. */
  readonly bytes: number
}

/** @param info what `INFO everything` said */
export function parseUsage(info: string): Usage {
  const field = (name: string, value = '([\\d.]+)') =>
    Number(new RegExp(`^${name}:${value}`, 'm').exec(info)?.[1] ?? 0)
  const calls = (command: string) => field(`cmdstat_${command}`, 'calls=(\\d+)')
  return {
    cpuMicros: (field('used_cpu_user') + field('used_cpu_sys')) * 1e6,
    calls: calls('evalsha') + calls('eval'),
    bytes: field('total_net_input_bytes') + field('total_net_output_bytes'),
  }
}
