/** The state of one server, as it reports it. Numbers that it does not report are undefined. */
export interface Health {
  /** How long it took to answer, ms. */
  readonly latencyMs: number
  readonly version: string | undefined
  readonly role: string | undefined
  readonly connectedClients: number | undefined
  /** The memory of Redis: when it is full, quotas may be lost. */
  readonly memory?: MemoryHealth
}

export interface MemoryHealth {
  readonly usedBytes: number | undefined
  /** 0: no maximum. */
  readonly maxBytes: number | undefined
  readonly policy: string | undefined
  readonly evictedKeys: number | undefined
}

/** The methods of ioredis, node-redis and valkey-glide that are used. */
interface Informed {
  info?(): Promise<unknown>
  nodes?(role: 'master'): Informed[]
}

/** The health of each master; empty if the client has no command for it. */
export async function healthOf(client: object): Promise<Health[]> {
  const { nodes } = client as Informed
  const masters = typeof nodes === 'function' ? nodes.call(client, 'master') : [client as Informed]
  const known = masters.filter(({ info }) => typeof info === 'function')
  return (await Promise.all(known.map(askOne))).filter((each) => each !== undefined)
}

async function askOne(server: Informed): Promise<Health | undefined> {
  const began = performance.now()
  const text = await server.info?.()
  const latencyMs = performance.now() - began
  return typeof text === 'string' ? read(text, latencyMs) : undefined
}

function read(info: string, latencyMs: number): Health {
  const lines = [...info.matchAll(/^([\w-]+):([^\r\n]*)/gm)]
  const fields = new Map(lines.map(([, name, value]) => [name as string, value as string]))
  const number = (name: string) => {
    const value = Number(fields.get(name))
    return fields.has(name) && Number.isFinite(value) ? value : undefined
  }
  return {
    latencyMs,
    version: fields.get('valkey_version') ?? fields.get('redis_version'),
    role: fields.get('role'),
    connectedClients: number('connected_clients'),
    memory: {
      usedBytes: number('used_memory'),
      maxBytes: number('maxmemory'),
      policy: fields.get('maxmemory_policy'),
      evictedKeys: number('evicted_keys'),
    },
  }
}
