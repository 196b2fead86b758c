// Prints how many time series one client makes, and how many 100,000 clients. In a process of its own,
// because inside Jest every decision takes several times as long.

import { createLimiter } from '@sluice/core'
import { instrument } from './index.ts'
import { useMeters } from './testing.ts'

const CLIENTS = 100_000
/** Few, because a refusal is recorded faster. */
const ADMITTED = 10_000

const meters = useMeters()
instrument({ meterProvider: meters.provider, nearLimit: 0.8 })
const admitting = createLimiter({ limit: 1, window: '1d', name: 'admitting' })
const refusing = createLimiter({ limit: 0, window: '1d', name: 'refusing' })

async function count(): Promise<number> {
  const points = Object.values(await meters.read()).flat()
  if (JSON.stringify(points).includes('203.0.113')) throw new Error('a metric has a key')
  return points.length
}

admitting.consume('one')
refusing.consume('one')
const one = await count()
for (let i = 0; i < CLIENTS; i += 1) (i < ADMITTED ? admitting : refusing).consume(`203.0.113.${i}`)
console.log(JSON.stringify({ one, many: await count() }))
process.exit()
