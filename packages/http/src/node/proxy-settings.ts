import type { ProxyTrust } from '../request-adapter.ts'

// The proxy settings of Express and of Fastify, which frameworks on top of them have too.

/** The proxies that the setting 'trust proxy' of Express trusts. */
export function expressTrust(setting: unknown): ProxyTrust {
  if (setting === true) return 'everybody'
  if (typeof setting === 'number') return setting > 0 ? 'hops' : 'nobody'
  return setting === undefined || setting === false ? 'nobody' : 'named'
}

/** The proxies that the option `trustProxy` of a Fastify application trusts. Its plugins inherit from it. */
export function fastifyTrust(app: { readonly version: string }): ProxyTrust {
  const setting = optionsOf(app)?.trustProxy
  // Fastify reads nothing for what is falsy: false, 0, ''.
  if (!setting) return 'nobody'
  if (setting === true) return 'everybody'
  if (typeof setting !== 'number') return 'named'
  return heedsHops(app.version) ? 'hops' : 'ignored'
}

/** Fastify keeps what it was built with under a symbol: `initialConfig` lacks this one. */
function optionsOf(app: object): { trustProxy?: unknown } | undefined {
  for (let part: object | null = app; part !== null; part = Object.getPrototypeOf(part)) {
    const symbols = Object.getOwnPropertySymbols(part)
    const symbol = symbols.find(({ description }) => description === 'fastify.options')
    if (symbol !== undefined)
      return (part as { [symbol: symbol]: { trustProxy?: unknown } | undefined })[symbol]
  }
  return undefined
}

/** A number has meant nothing since Fastify 5.12.1 (GHSA-3m5p-2c4r-xxw2). No version before 5 is supported. */
function heedsHops(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  return major === 5 && (minor < 12 || (minor === 12 && patch < 1))
}
