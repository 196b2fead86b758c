import { createHash } from 'node:crypto'
import type { Charge, GrantResult, Keyspace, RenewChange, Store } from '@sluice/core/store'
import { type Asked, type Learning, nameIn } from '../asked.ts'
import type { Connection } from '../connection.ts'
import type { Core } from '../core.ts'
import { ErrorReply } from './commands.ts'
import type { LuaMachine } from './lua.ts'

/** What own.lua.ts replies. */
const GRANT_RESULTS: readonly GrantResult[] = ['granted', 'known', 'too many', 'too much', 'ended']

/** What node-redis passes on. */
interface Input {
  readonly keys: string[]
  readonly arguments: string[]
}

/**
 * Core's store in Redis, over a client like that of node-redis: its scripts run on the simulated server, in Lua.
 *
 * @param isCluster whether the client is that of a cluster
 */
export function auditedRedis(
  core: Core,
  connection: Connection,
  lua: LuaMachine,
  isCluster: boolean,
  learning: Learning,
): Store<'async'> {
  /** What was asked by scripts that may be sent again whole, by their keys. */
  const sent = new WeakMap<readonly string[], Asked>()
  /** Settlements that show whether the store works: those whose first script has been sent, and not the second. */
  const probes: Asked[] = []

  /** What a script is about; undefined: nothing that the audit needs. */
  const askedBy = (keys: readonly string[]): Asked | undefined => {
    const asked = learning.asked() ?? sent.get(keys) ?? takeProbe(probes, keys)
    if (asked !== undefined) sent.set(keys, asked)
    return asked
  }
  const run = (script: string, { keys, arguments: args }: Input, isWhole: boolean) => {
    const asked = askedBy(keys)
    const isProbe = asked !== undefined && isProbeOf(asked, keys)
    const answered = connection.run({
      keys,
      run(server) {
        if (isWhole) server.scripts.set(createHash('sha1').update(script).digest('hex'), script)
        const text = isWhole ? script : server.scripts.get(script)
        if (text === undefined)
          return new ErrorReply('NOSCRIPT No matching script. Please use EVAL.')
        const reply = lua.run(text, keys, args, server)
        if (asked !== undefined && !isProbe && !(reply instanceof ErrorReply))
          learn(core, asked, keys, reply, server.now(), learning)
        return reply
      },
    })
    if (isProbe) answered.then(() => probes.push(asked)).catch(() => {})
    return answered
  }
  const client = {
    isOpen: true,
    evalSha: (digest: string, input: Input) => run(digest, input, false),
    eval: (text: string, input: Input) => run(text, input, true),
    withTypeMapping: () => client,
    ...(isCluster && { nodeClient() {} }),
  }
  return core.redisStore(client)
}

/** Whether it is the script that shows whether a store works: its key is of no policy. */
function isProbeOf({ change }: Asked, [key]: readonly string[]): boolean {
  return change?.kind === 'settle' && change.isProbe === true && key?.endsWith('}') === true
}

/** The settlement that follows its probe. */
function takeProbe(probes: Asked[], keys: readonly string[]): Asked | undefined {
  const place = probes.findIndex(({ change, keyspaces, prefix }) => {
    if (change?.kind !== 'settle') return false
    const names = change.charges.map((each, i) => nameOf(each, keyspaces[i], prefix))
    return `${names}` === `${keys}`
  })
  return place < 0 ? undefined : probes.splice(place, 1)[0]
}

function nameOf({ key }: Charge, keyspace: Keyspace | undefined, prefix: string): string {
  return nameIn(keyspace?.prefix ?? prefix, key, keyspace?.name ?? '')
}

/** Tells what a script has done. */
function learn(
  core: Core,
  asked: Asked,
  keys: readonly string[],
  reply: unknown,
  now: number,
  learning: Learning,
): void {
  const { requests, change, isPeek, keyspaces, prefix } = asked
  if (requests !== undefined) {
    const results = core.readReply(reply, requests, isPeek)
    learning.ran(asked, results, now)
  } else if (change?.kind === 'renew') {
    // There is a script for each policy.
    const own = renewed(change, keys, (charge, i) => nameOf(charge, keyspaces[i], prefix))
    learning.ran({ ...asked, change: own }, { result: undefined }, now)
  } else {
    const result = change?.kind === 'grant' ? GRANT_RESULTS[Number(reply)] : undefined
    learning.ran(asked, { result }, now)
  }
}

/** The slots of the policies whose keys are among these. */
function renewed(
  { requests }: RenewChange,
  keys: readonly string[],
  nameOf: (charge: Charge, policy: number) => string,
): RenewChange {
  const own = requests.map((charges) =>
    charges.map((charge, i) =>
      keys.includes(nameOf(charge, i)) ? charge : { ...charge, claim: undefined },
    ),
  )
  return { kind: 'renew', requests: own }
}
