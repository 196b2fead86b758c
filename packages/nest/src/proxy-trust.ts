import type { ProxyTrust } from '@sluice/core/adapter'

/** The part of Express's and of Fastify's requests that leads to their settings. */
interface PlatformRequest {
  readonly app?: { get(setting: string): unknown }
  readonly server?: { readonly version: string }
}

/** Whom the platform's own proxy setting trusts; nobody on a request that has no platform. */
export function proxyTrust({ app, server }: PlatformRequest): ProxyTrust {
  const setting = server === undefined ? app?.get('trust proxy') : fastifySetting(server)
  if (!setting) return 'nobody'
  if (setting === true) return 'everybody'
  if (typeof setting !== 'number') return 'named'
  return server === undefined || heedsHops(server.version) ? 'hops' : 'ignored'
}

/** Fastify keeps what it was built with under a symbol. Its plugins inherit from the application. */
function fastifySetting(server: object): unknown {
  for (let part: object | null = server; part !== null; part = Object.getPrototypeOf(part)) {
    const symbols = Object.getOwnPropertySymbols(part)
    const symbol = symbols.find(({ description }) => description === 'fastify.options')
    if (symbol !== undefined)
      return (part as { [symbol: symbol]: { trustProxy?: unknown } })[symbol]?.trustProxy
  }
  return undefined
}

/** A number has meant nothing since Fastify 5.12.1 (GHSA-3m5p-2c4r-xxw2). */
function heedsHops(version: string): boolean {
  const [, minor = 0, patch = 0] = version.split('.').map(Number)
  return minor < 12 || (minor === 12 && patch < 1)
}
