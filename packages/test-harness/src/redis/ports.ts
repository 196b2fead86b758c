import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'

export const LOOPBACK = '127.0.0.1'

/** How far the bus port of a cluster node is from its own, where nothing else is said. */
const BUS_OFFSET = 10_000
const HIGHEST_PORT = 65_535

/**
 * `count` different loopback ports that are free now. Another process may take one before it is
 * used, so the caller tries again with others.
 */
export async function freePorts(count: number): Promise<number[]> {
  const listeners = await Promise.all(Array.from({ length: count }, () => listenOn(0)))
  const ports = listeners.map(portOf)
  await Promise.all(listeners.map(closed))
  return ports
}

/**
 * `count` different free ports whose bus ports are free too: Redis 6.2 takes no other bus port than the one
 * 10,000 above.
 */
export async function freeClusterPorts(count: number): Promise<number[]> {
  const ports: number[] = []
  while (ports.length < count) {
    const [port] = (await freePorts(1)) as [number]
    if (!ports.includes(port) && (await isFree(port + BUS_OFFSET))) ports.push(port)
  }
  return ports
}

async function isFree(port: number): Promise<boolean> {
  if (port > HIGHEST_PORT) return false
  try {
    await closed(await listenOn(port))
    return true
  } catch {
    return false
  }
}

async function listenOn(port: number): Promise<Server> {
  const listener = createServer().listen(port, LOOPBACK)
  await once(listener, 'listening')
  return listener
}

function portOf(listener: Server): number {
  return (listener.address() as AddressInfo).port
}

async function closed(listener: Server): Promise<void> {
  await once(listener.close(), 'close')
}
