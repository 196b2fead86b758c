import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startReady } from '../processes/own-process.ts'
import { freePorts, LOOPBACK } from '../redis/ports.ts'
import { prometheusBinary } from './binary.ts'

export interface Alert {
  readonly state: 'pending' | 'firing'
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

export interface Prometheus {
  /** @returns the labels and values of an instant query. @throws Error with what Prometheus says */
  query(expression: string): Promise<{ labels: Record<string, string>; value: number }[]>
  alerts(): Promise<Alert[]>
  stop(): Promise<void>
}

/**
 * Starts a Prometheus on a free port, with its data in a temporary folder.
 *
 * @param config the text of its configuration
 * @param rules the text of a file of rules, which the configuration can name `rules.yml`
 */
export async function startPrometheus(config: string, rules: string): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-prometheus-'))
  await writeFile(join(folder, 'prometheus.yml'), config)
  await writeFile(join(folder, 'rules.yml'), rules)
  const [port] = (await freePorts(1)) as [number]
  const url = `http://${LOOPBACK}:${port}`
  const args = [
    '--config.file=prometheus.yml',
    '--storage.tsdb.path=data',
    `--web.listen-address=${LOOPBACK}:${port}`,
  ]
  const isReady = () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  const stop = await startReady([prometheusBinary(), ...args], { folder }, 'Prometheus', isReady)
  return {
    async query(expression) {
      const { result } = await api<{ result: Sample[] }>(url, 'query', { query: expression })
      return result.map(({ metric, value: [, text] }) => ({ labels: metric, value: Number(text) }))
    },
    alerts: async () => (await api<{ alerts: Alert[] }>(url, 'alerts')).alerts,
    stop,
  }
}

interface Sample {
  readonly metric: Record<string, string>
  readonly value: readonly [time: number, text: string]
}

async function api<T>(url: string, path: string, query: Record<string, string> = {}): Promise<T> {
  const reply = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(query)}`)
  const { status, data, error } = (await reply.json()) as { status: string; data: T; error: string }
  if (status !== 'success') throw new Error(`${JSON.stringify(query)}: ${error}`)
  return data
}
