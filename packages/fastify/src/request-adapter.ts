import {
  nodeExchange,
  PROFILE_FIELDS,
  type ProxyTrust,
  type RequestAdapter,
} from '@sluice/core/adapter'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Fastify writes names in lower case. Given so, it need not make them for each response. */
const LOWER_CASE = new Map(PROFILE_FIELDS.map((name) => [name, name.toLowerCase()]))

/** Reads the request and the reply of Fastify. */
export function adapterOf(app: FastifyInstance): RequestAdapter<FastifyRequest, FastifyReply> {
  const trust = trustOf(trustProxySetting(app), app.version)
  return {
    ...nodeExchange<FastifyRequest, FastifyReply>(
      (request) => request.raw,
      (reply) => reply.raw,
    ),
    setField: (reply, name, value) => void reply.header(LOWER_CASE.get(name) ?? name, value),
    setStatus: (reply, status) => void reply.code(status),
    // As bytes: to text Fastify would add a charset, which JSON does not have.
    send: (reply, body, mediaType) =>
      void reply.header('Content-Type', mediaType).send(Buffer.from(body)),
    address: (request) => request.ip,
    proxyTrust: () => trust,
    user: (request) => (request as { user?: unknown }).user,
    path: (request) => request.url,
    route: (request) => request.routeOptions.url,
    decided(request, decision) {
      request.rateLimit = decision
    },
    // As with a handler: what `respond` returns is sent.
    responded(reply, payload) {
      if (payload !== undefined && !reply.sent) reply.send(payload)
    },
    abandon: (reply) => void reply.hijack(),
  }
}

/** Fastify keeps what it was built with under a symbol: `initialConfig` lacks this one. */
function trustProxySetting(app: FastifyInstance): unknown {
  for (let part: object | null = app; part !== null; part = Object.getPrototypeOf(part)) {
    for (const symbol of Object.getOwnPropertySymbols(part)) {
      if (symbol.description === 'fastify.options') {
        return (part as { [symbol: symbol]: { trustProxy?: unknown } })[symbol]?.trustProxy
      }
    }
  }
  return undefined
}

function trustOf(setting: unknown, version: string): ProxyTrust {
  // Fastify reads nothing for what is falsy: false, 0, ''.
  if (!setting) return 'nobody'
  if (setting === true) return 'everybody'
  if (typeof setting !== 'number') return 'named'
  return heedsHops(version) ? 'hops' : 'ignored'
}

/** A number has meant nothing since Fastify 5.12.1 (GHSA-3m5p-2c4r-xxw2). */
function heedsHops(version: string): boolean {
  const [, minor = 0, patch = 0] = version.split('.').map(Number)
  return minor < 12 || (minor === 12 && patch < 1)
}
