import { isIP } from 'node:net'
import { addressKey } from '@sluice/core/operator'
import { UsageError } from '@sluice/terminal/usage-error'

/**
 * The key under which a limiter counts a client: of an address its network, as the limiters make it, also behind
 * a shard.
 * Anything else is the key itself.
 *
 * @throws UsageError
 */
export function clientKey(text: string, ipv6Prefix: string): string {
  const bits = Number(ipv6Prefix)
  if (!/^\d{1,3}$/.test(ipv6Prefix) || bits < 32 || bits > 128) {
    throw new UsageError(`--ipv6-prefix: expected 32 to 128, received '${ipv6Prefix}'`)
  }
  if (text === '') throw new UsageError('expected the key of a client, received nothing')
  const [, shard = '', client = text] = /^(\{[^}]+\})(.+)$/.exec(text) ?? []
  return isIP(client) === 0 ? text : shard + (addressKey(client, bits) as string)
}
