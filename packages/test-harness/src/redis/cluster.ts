import { untilLinked } from './replication.ts'
import { type RedisServer, type StartOptions, startRedis } from './server.ts'
import { startAll, stopAll } from './start-all.ts'
import { until } from './until.ts'

const SLOTS = 16_384
/**
 * The default of `nodeTimeoutMs`: longer than a stall of the machine. The longer, the later the nodes know
 * each other's replicas.
 */
const NODE_TIMEOUT_MS = 4_000

export interface ClusterOptions {
  /** How many masters share the slots, in equal ranges; at least 3, or none can be replaced. */
  readonly masters?: number
  readonly replicasPerMaster?: 0 | 1
  /**
   * How long a node does not answer until the others count it as failed, in milliseconds. Default:
   * 4 s, longer than a stall of the machine. Only a test in which nodes fail needs less.
   */
  readonly nodeTimeoutMs?: number
  /** Further arguments of every node. */
  readonly args?: readonly string[]
  /** Gives every node a wall clock of its own, so many milliseconds ahead; needs libfaketime. */
  readonly clockOffsetMs?: number
}

export interface RedisCluster {
  /** The masters in the order of their slots, then the replicas. */
  readonly nodes: readonly RedisServer[]
  /** The masters as the cluster was formed: a failover later changes who is master. */
  readonly masters: readonly RedisServer[]
  /** `replicas[i]` began as the replica of `masters[i]`. */
  readonly replicas: readonly RedisServer[]
  stop(): Promise<void>
}

/**
 * Starts a Redis Cluster on free loopback ports and waits until every node
 * serves all slots and knows all the others.
 */
export async function startCluster({
  masters: count = 3,
  replicasPerMaster = 0,
  nodeTimeoutMs,
  ...options
}: ClusterOptions = {}): Promise<RedisCluster> {
  const nodes = await startNodes(count * (1 + replicasPerMaster), options)
  const masters = nodes.slice(0, count)
  const replicas = nodes.slice(count)
  try {
    await form(masters, replicas)
    if (nodeTimeoutMs !== undefined) await setNodeTimeout(nodes, nodeTimeoutMs)
  } catch (error) {
    await stopAll(nodes)
    throw error
  }
  return { nodes, masters, replicas, stop: () => stopAll(nodes) }
}

function startNodes(
  count: number,
  { args: further = [], ...options }: StartOptions,
): Promise<RedisServer[]> {
  const args = ['--cluster-node-timeout', String(NODE_TIMEOUT_MS), ...further]
  const starts = Array.from({ length: count }, () =>
    startRedis({ ...options, cluster: true, args }),
  )
  return startAll(starts)
}

async function form(masters: RedisServer[], replicas: RedisServer[]): Promise<void> {
  const nodes = [...masters, ...replicas]
  await Promise.all(
    nodes.map((node, index) => node.command('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)),
  )
  await Promise.all(masters.map((master, index) => addSlots(master, index, masters.length)))
  await introduce(nodes)
  await Promise.all(replicas.map((replica, index) => replicate(replica, masters[index]!)))
  await Promise.all(nodes.map((node) => untilServing(node, masters.length, replicas.length)))
  await Promise.all(replicas.map(untilLinked))
}

/** Sets the timeout of nodes that know each other: before, it would also end their handshakes. */
async function setNodeTimeout(nodes: readonly RedisServer[], ms: number): Promise<void> {
  await Promise.all(nodes.map((node) => node.command('CONFIG', 'SET', 'cluster-node-timeout', ms)))
}

async function addSlots(master: RedisServer, index: number, count: number): Promise<void> {
  const first = Math.floor((index * SLOTS) / count)
  const end = Math.floor(((index + 1) * SLOTS) / count)
  // One by one: Redis 6.2 does not take a range.
  const slots = Array.from({ length: end - first }, (_, i) => first + i)
  await master.command('CLUSTER', 'ADDSLOTS', ...slots)
}

/** Every node meets all the later ones: gossip alone would take seconds. */
async function introduce(nodes: RedisServer[]): Promise<void> {
  const meetings = nodes.flatMap((node, index) =>
    nodes.slice(index + 1).map((other) => node.command('CLUSTER', 'MEET', other.host, other.port)),
  )
  await Promise.all(meetings)
}

async function replicate(replica: RedisServer, master: RedisServer): Promise<void> {
  const masterId = String(await master.command('CLUSTER', 'MYID'))
  const knows = async () => String(await replica.command('CLUSTER', 'NODES')).includes(masterId)
  await until(knows, { what: `the replica knows its master ${masterId}` })
  await replica.command('CLUSTER', 'REPLICATE', masterId)
}

async function untilServing(node: RedisServer, masters: number, replicas: number): Promise<void> {
  const serves = async () => {
    const info = String(await node.command('CLUSTER', 'INFO'))
    if (!info.includes('cluster_state:ok') || !info.includes(`cluster_slots_ok:${SLOTS}`))
      return false
    const known = String(await node.command('CLUSTER', 'NODES'))
      .trim()
      .split('\n')
    const slaves = known.filter((line) => /\bslave\b/.test(line))
    return known.length === masters + replicas && slaves.length === replicas
  }
  const what = `the cluster node on port ${node.port} serves all slots and knows all nodes`
  await until(serves, { everyMs: 20, what })
}
