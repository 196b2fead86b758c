import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

export const LOOPBACK = '127.0.0.1'

/** How far the bus port of a cluster node is from its own, where nothing else is said. */
const BUS_OFFSET = 10_000
/**
 * Ports that systems do not give to connections by themselves, and neither are the bus ports above them: Linux
 * begins at 32,768. So nothing takes one by chance but another test that has drawn it too.
 */
const LOWEST = 10_240
const END = 32_768 - BUS_OFFSET

/**
 * `count` different loopback ports that are free now. Another process may take one before it is
 * used, so the caller tries again with others.
 */
export function freePorts(count: number): Promise<number[]> {
  return draw(count, isFree)
}

/**
 * `count` different free ports whose bus ports are free too: Redis 6.2 takes no other bus port than the one
 * 10,000 above.
 */
export function freeClusterPorts(count: number): Promise<number[]> {
  return draw(count, async (port) => (await isFree(port)) && (await isFree(port + BUS_OFFSET)))
}

async function draw(count: number, fits: (port: number) => Promise<boolean>): Promise<number[]> {
  const ports = new Set<number>()
  while (ports.size < count) {
    const port = randomInt(LOWEST, END)
    if (await fits(port)) ports.add(port)
  }
  return [...ports]
}

async function isFree(port: number): Promise<boolean> {
  const listener = createServer().listen(port, LOOPBACK)
  try {
    await once(listener, 'listening')
  } catch {
    return false
  }
  await once(listener.close(), 'close')
  return true
}
