import type { IoRedisClient, NodeRedisClient, RedisClient, ValkeyGlideClient } from './client.ts'

/** One step of a SCAN on one server. */
export interface ScanStep {
  /** `'0'`: that was the last one. */
  readonly cursor: string
  readonly keys: readonly string[]
}

/** Reads on from a cursor, `'0'` at first. */
export type Scan = (cursor: string, pattern: string, count: number) => Promise<ScanStep>

/** What scans each server that has keys of its own: one server, or the masters of a cluster. */
export async function scansOf(client: RedisClient): Promise<readonly Scan[]> {
  if ('customCommand' in client) return scansOfGlide(client)
  return 'evalsha' in client ? scansOfIoRedis(client) : scansOfNodeRedis(client)
}

interface IoRedisNode {
  scan(
    cursor: string,
    match: 'MATCH',
    pattern: string,
    count: 'COUNT',
    number: number,
  ): Promise<[cursor: string, keys: string[]]>
}

function scansOfIoRedis(client: IoRedisClient): Scan[] {
  const { nodes } = client as Partial<{ nodes(role: 'master'): IoRedisNode[] }>
  const masters = client.isCluster ? nodes?.call(client, 'master') : undefined
  return (masters ?? [client as unknown as IoRedisNode]).map((node) => {
    return async (cursor, pattern, count) => {
      const [next, keys] = await node.scan(cursor, 'MATCH', pattern, 'COUNT', count)
      return { cursor: next, keys }
    }
  })
}

interface NodeRedisNode {
  scan(
    cursor: string,
    options: { MATCH: string; COUNT: number },
  ): Promise<{ cursor: unknown; keys: readonly unknown[] }>
}

interface NodeRedisCluster {
  readonly masters: readonly unknown[]
  nodeClient(master: unknown): NodeRedisNode | Promise<NodeRedisNode>
}

async function scansOfNodeRedis(client: NodeRedisClient): Promise<Scan[]> {
  const isCluster = typeof client.nodeClient === 'function'
  const cluster = client as unknown as NodeRedisCluster
  const nodes = isCluster
    ? await Promise.all(cluster.masters.map((master) => cluster.nodeClient(master)))
    : [client as unknown as NodeRedisNode]
  return nodes.map((node) => async (cursor, pattern, count) => {
    const step = await node.scan(cursor, { MATCH: pattern, COUNT: count })
    // Texts are buffers where the client is set to give those.
    return { cursor: String(step.cursor), keys: step.keys.map(String) }
  })
}

/** valkey-glide's `Decoder.String`. */
const STRING = 1

interface Route {
  readonly type: 'routeByAddress'
  readonly host: string
  readonly port: number
}

interface Glide {
  customCommand(args: string[], options: { decoder: 1; route?: Route }): Promise<unknown>
}

/**
 * The scans as plain commands: the client's own scan of a cluster takes a cursor that only its package can
 * make.
 */
async function scansOfGlide(client: ValkeyGlideClient): Promise<Scan[]> {
  const glide = client as unknown as Glide
  const isCluster = typeof client.invokeScriptWithRoute === 'function'
  const routes = isCluster ? await mastersOfGlide(glide) : [undefined]
  return routes.map((route) => async (cursor, pattern, count) => {
    const args = ['SCAN', cursor, 'MATCH', pattern, 'COUNT', `${count}`]
    const options = route === undefined ? {} : { route }
    const reply = await glide.customCommand(args, { decoder: STRING, ...options })
    const [next, keys] = reply as [string, string[]]
    return { cursor: next, keys }
  })
}

type SlotRange = [first: number, last: number, master: [host: string, port: number]]

async function mastersOfGlide(glide: Glide): Promise<Route[]> {
  const ranges = (await glide.customCommand(['CLUSTER', 'SLOTS'], {
    decoder: STRING,
  })) as SlotRange[]
  const routes = ranges.map(([, , [host, port]]): [string, Route] => [
    `${host}:${port}`,
    { type: 'routeByAddress', host, port },
  ])
  return [...new Map(routes).values()]
}
