import type { RedisCluster } from './cluster.ts'
import type { RedisServer } from './server.ts'

const BATCH = 100
const TIMEOUT_MS = 4_000

/**
 * - `open`: no key has moved yet; the old master redirects a client (ASK) for a key that it does not have.
 * - `moved`: every key is at the new master; the old one redirects clients for each (ASK).
 * - `owned`: the slot belongs to the new master, and the old one says so (MOVED).
 */
export type MoveStage = 'open' | 'moved' | 'owned'

export interface MoveOptions {
  /** Called at every stage, which lasts until it resolves. */
  readonly during?: (stage: MoveStage) => Promise<void>
}

export async function hashSlotOf(cluster: RedisCluster, key: string): Promise<number> {
  return Number(await cluster.nodes[0]!.command('CLUSTER', 'KEYSLOT', key))
}

/**
 * Moves a slot with its keys between two masters of a cluster that has had no failover, as a
 * resharding does, under whatever traffic there is.
 */
export async function moveSlot(
  { masters }: RedisCluster,
  slot: number,
  from: RedisServer,
  to: RedisServer,
  { during = async () => {} }: MoveOptions = {},
): Promise<void> {
  const [fromId, toId] = await Promise.all([from, to].map(idOf))
  await to.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId!)
  await from.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId!)
  await during('open')
  await moveKeys(slot, from, to)
  await during('moved')
  // The new master first: between the two, the slot must not be without an owner.
  for (const master of [to, ...masters.filter((other) => other !== to)])
    await master.command('CLUSTER', 'SETSLOT', slot, 'NODE', toId!)
  await during('owned')
}

async function idOf(node: RedisServer): Promise<string> {
  return String(await node.command('CLUSTER', 'MYID'))
}

async function moveKeys(slot: number, from: RedisServer, to: RedisServer): Promise<void> {
  for (;;) {
    const keys = (await from.command('CLUSTER', 'GETKEYSINSLOT', slot, BATCH)) as string[]
    if (keys.length === 0) return
    await from.command('MIGRATE', to.host, to.port, '', 0, TIMEOUT_MS, 'KEYS', ...keys)
  }
}
