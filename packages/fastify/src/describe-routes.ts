import { SluiceError } from '@sluice/core'
import type { OpenApiDocument } from '@sluice/http'
import { type HttpLimiter, loadDescription } from '@sluice/http/adapter'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Takes an OpenAPI document, and returns one with more in it. */
export type TransformObject = <D extends object>(
  given: { openapiObject: D } | { swaggerObject: object },
) => D

/** A route, as the application wrote it. */
export interface DescribedRoute {
  readonly methods: readonly string[]
  readonly url: string
  /** Undefined: the route is exempt. */
  readonly limiter: HttpLimiter<FastifyRequest, FastifyReply> | undefined
}

/**
 * Makes what describes the limits of routes in documents.
 * @param routes may still grow until the application is ready
 * @param beforeReady lets the application be ready when the function's promise is fulfilled
 */
export function describer(
  routes: readonly DescribedRoute[],
  beforeReady: (load: () => Promise<void>) => void,
): TransformObject {
  let describe: Awaited<ReturnType<typeof loadDescription>>['describeLimits'] | undefined
  beforeReady(async () => {
    describe = (await loadDescription()).describeLimits
  })
  return (given) => {
    if (describe === undefined) throw notReady()
    const document = 'openapiObject' in given ? given.openapiObject : given.swaggerObject
    const named = routes.flatMap(({ methods, url, limiter }) =>
      methods.map((method) => [`${method} ${shapeOf(url)}`, { limiter }] as const),
    )
    const known = new Map(named)
    return describe(document as OpenApiDocument, (method, ...paths) => {
      const [one, other] = paths.map((path) => known.get(`${method} ${shapeOfTemplate(path)}`))
      return (one ?? other)?.limiter?.compiled
    }) as never
  }
}

/** A path of Fastify without the names and patterns of its parameters: `/users/{}`. */
function shapeOf(url: string): string {
  return url.replace(/::|:\w*(\((?:[^()]|\([^()]*\))*\))?|\*/g, (part) =>
    part === '::' ? ':' : '{}',
  )
}

/** A path of a document without the names of its parameters: `/users/{}`. */
function shapeOfTemplate(path: string): string {
  return path.replace(/\{[^}]*\}/g, '{}')
}

function notReady(): SluiceError {
  return new SluiceError({
    code: 'SLUICE_OPTION_CONFLICT',
    option: 'rateLimit.openapi',
    expected: 'an application that is ready',
    said: 'one that is not',
    fix: 'Make the document after await app.ready().',
  })
}
