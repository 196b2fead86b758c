/** How to fix the settings of a Redis that can't be used, as Markdown: messages and docs/errors.md say it. */
export const REDIS_ACTIONS = {
  SLUICE_REDIS_NOT_CONNECTED:
    "Call `client.on('error', …)`, then `await client.connect()`, before the first request.",
  SLUICE_REDIS_AUTH: "Give the client the server's username and password.",
  SLUICE_REDIS_FORBIDDEN:
    'Permit all of this, with `concurrent` or `reserve` also `+zadd +zcount +zrange +zrem +zscore`, besides the commands of the client itself, with your own prefix in place of sluice: `ACL SETUSER <name> ~sluice[.:]* +eval +evalsha +time +get +mget +set +getrange +setrange +pexpire +del`.',
  SLUICE_REDIS_CLUSTER:
    'Use `new Cluster([{ host, port }])` of ioredis, `createCluster({ rootNodes: [{ url }] })` of node-redis, or `GlideClusterClient.createClient({ addresses: [{ host, port }] })` of valkey-glide.',
  SLUICE_REDIS_NO_SCRIPTS:
    'Enable `EVAL` and `EVALSHA` on the server; for Valkey, install its Lua module.',
  SLUICE_REDIS_READONLY:
    "Connect to the master through Sentinel or an address that follows it, and reconnect after a failover: ioredis by `reconnectOnError: (e) => (e.message.includes('READONLY') ? 1 : false)`, the others by `redisStore(client, { onReadOnly })`.",
}
