import {
  type BunRedisClient,
  type IoRedisClient,
  isBun,
  isCluster,
  isUpstash,
  type NodeRedisClient,
  type RedisClient,
  type UpstashClient,
  type ValkeyGlideClient,
} from './client.ts'

/** Reads a step of a SCAN on one server, on from a cursor. The first one is `'0'`, and so is that after the last step. */
export type Scan = (
  cursor: string,
  pattern: string,
  count: number,
) => Promise<readonly [cursor: string, keys: readonly string[]]>

/** Returns a scan of each server that has keys of its own: one server, or the masters of a cluster. */
export async function scansOf(client: RedisClient): Promise<readonly Scan[]> {
  if (isUpstash(client)) return [scanOfUpstash(client)]
  if (isBun(client)) return [scanOfBun(client)]
  if ('customCommand' in client) return scansOfGlide(client)
  return 'evalsha' in client ? scansOfIoRedis(client) : scansOfNodeRedis(client)
}

function scansOfIoRedis(client: IoRedisClient): Scan[] {
  const masters = isCluster(client)
    ? (client as unknown as { nodes(role: 'master'): unknown[] }).nodes('master')
    : [client]
  return masters.map((master) => {
    const node = master as { scan(...args: (string | number)[]): Promise<[string, string[]]> }
    return (cursor, pattern, count) => node.scan(cursor, 'MATCH', pattern, 'COUNT', count)
  })
}

async function scansOfNodeRedis(client: NodeRedisClient): Promise<Scan[]> {
  type Node = {
    scan(
      cursor: string,
      options: { MATCH: string; COUNT: number },
    ): Promise<{ cursor: unknown; keys: readonly unknown[] }>
  }
  const cluster = client as unknown as {
    readonly masters: readonly unknown[]
    nodeClient(master: unknown): Node | Promise<Node>
  }
  const nodes = isCluster(client)
    ? await Promise.all(cluster.masters.map((master) => cluster.nodeClient(master)))
    : [client as unknown as Node]
  return nodes.map((node) => async (cursor, pattern, count) => {
    const step = await node.scan(cursor, { MATCH: pattern, COUNT: count })
    // Texts are buffers where the client is set to give those.
    return [String(step.cursor), step.keys.map(String)]
  })
}

/**
 * The scans as plain commands: the client's own scan of a cluster takes a cursor that only its package can
 * make.
 */
async function scansOfGlide(client: ValkeyGlideClient): Promise<Scan[]> {
  const glide = client as unknown as {
    customCommand(args: string[], options: object): Promise<unknown>
  }
  // valkey-glide's `Decoder.String`.
  const text = { decoder: 1 }
  const scanOn =
    (options: object): Scan =>
    async (cursor, pattern, count) => {
      const args = ['SCAN', cursor, 'MATCH', pattern, 'COUNT', `${count}`]
      return (await glide.customCommand(args, options)) as [string, string[]]
    }
  if (!isCluster(client)) return [scanOn(text)]
  type SlotRange = [first: number, last: number, master: [host: string, port: number]]
  const ranges = (await glide.customCommand(['CLUSTER', 'SLOTS'], text)) as SlotRange[]
  const masters = new Map(ranges.map(([, , master]) => [master.slice(0, 2).join(':'), master]))
  return [...masters.values()].map(([host, port]) => {
    return scanOn({ ...text, route: { type: 'routeByAddress', host, port } })
  })
}

function scanOfUpstash(client: UpstashClient): Scan {
  type Step = [cursor: unknown, keys: readonly unknown[]]
  const scanned = client as unknown as {
    scan(cursor: string, options: { match: string; count: number }): Promise<Step>
  }
  return async (cursor, match, count) => {
    const [next, keys] = await scanned.scan(cursor, { match, count })
    return [String(next), keys.map(String)]
  }
}

function scanOfBun(client: BunRedisClient): Scan {
  return async (cursor, pattern, count) =>
    (await client.send('SCAN', [cursor, 'MATCH', pattern, 'COUNT', `${count}`])) as [
      string,
      string[],
    ]
}
