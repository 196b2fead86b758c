/**
 * node --import tsx worker.mts <url>: sends requests with the retrying clients, all together, and
 * prints how long each took. A process of its own, since most of these packages are ESM only.
 */
import { Octokit } from '@octokit/core'
import { throttling } from '@octokit/plugin-throttling'
import axios from 'axios'
import axiosRetry from 'axios-retry'
import got from 'got'
import ky from 'ky'
import { Agent, RetryAgent, request } from 'undici'
import type { Report } from './report.ts'

const url = process.argv[2] as string

type Send = (url: string) => Promise<number>

const axiosClient = axios.create()
axiosRetry(axiosClient)
const axiosBackoff = axios.create()
axiosRetry(axiosBackoff, { retryDelay: axiosRetry.exponentialDelay })
const dispatcher = new RetryAgent(new Agent())

/** Each as its documentation sets it up, with its defaults. */
const clients: Record<string, Send> = {
  got: async (url) => (await got(url)).statusCode,
  'axios-retry': async (url) => (await axiosClient.get(url)).status,
  'axios-retry with exponentialDelay': async (url) => (await axiosBackoff.get(url)).status,
  ky: async (url) => (await ky(url)).status,
  'undici RetryAgent': async (url) => (await request(url, { dispatcher })).statusCode,
}

async function octokit(url: string): Promise<number> {
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  const client = new (Octokit.plugin(throttling))({
    baseUrl: url,
    log,
    throttle: { onRateLimit: () => true, onSecondaryRateLimit: () => false },
  })
  return (await client.request('GET /legacy/octokit')).status
}

async function timed(name: string, path: string, send: Send): Promise<Report[number]> {
  // Takes the only unit.
  await fetch(`${url}${path}`)
  const start = performance.now()
  const status = await send(`${url}${path}`)
  return { name, status, ms: performance.now() - start }
}

/** These requests are not awaited: if they wait as Retry-After says, they outlast this process. */
for (const name of ['got', 'axios-retry']) {
  for (const path of [`/forever/${name}`, `/overflow/${name}`]) {
    timed(name, path, clients[name] as Send).catch(() => {})
  }
}

const report: Report = await Promise.all([
  timed('octokit', '/legacy/octokit', () => octokit(url)),
  ...Object.entries(clients).map(([name, send]) =>
    timed(name, `/second/${encodeURIComponent(name)}`, send),
  ),
])
process.stdout.write(JSON.stringify(report), () => process.exit(0))
