import { SetMetadata, type Type } from '@nestjs/common'
import { Reflector } from '@nestjs/core'
import type { OpenApiDocument } from '@sluice/http'
import { type HttpLimiter, loadDescription } from '@sluice/http/adapter'
import { GUARD } from './decorators.ts'
import type { AnyRequest, AnyResponse } from './request-adapter.ts'

type Handler = (...args: never[]) => unknown
type Limiters = ReadonlyMap<Handler, HttpLimiter<AnyRequest, AnyResponse> | undefined>
type Operations = Record<string, Record<string, { [MARK]?: number }>>

const reflector = new Reflector()

/** Where `@ApiExtension` of `@nestjs/swagger` keeps what a handler adds to its operation. */
const EXTENSION = 'swagger/apiExtension'
/** Tells in a document which handler an operation is. */
const MARK = 'x-sluice-handler'
/** Where Nest keeps the guards of a controller and of a handler. */
const GUARDS = '__guards__'

/**
 * Describes the limits of handlers in the document that `create` makes.
 * @param known the limiters of all handlers
 */
export async function describeHandlers<D extends OpenApiDocument>(
  create: () => D,
  known: ReadonlyMap<Type, Limiters>,
): Promise<D> {
  const { describeLimits } = await loadDescription()
  const all = [...known].flatMap(([controller, limiters]) =>
    [...limiters].map(([handler, limiter]) => {
      const guarded = isGuarded(controller) || isGuarded(handler)
      return { handler, limiter, guarded, former: reflector.get(EXTENSION, handler) }
    }),
  )
  // Where no handler has the guard, it is the application's.
  const isGlobal = !all.some(({ guarded }) => guarded)
  try {
    for (const [i, { handler, former }] of all.entries())
      SetMetadata(EXTENSION, { ...former, [MARK]: i })(handler)
    const document = create()
    const marks = takeMarks(document)
    return describeLimits(document, (method, path) => {
      const found = all[marks.get(`${method} ${path}`) ?? -1]
      return isGlobal || found?.guarded ? found?.limiter?.compiled : undefined
    })
  } finally {
    for (const { handler, former } of all) SetMetadata(EXTENSION, former)(handler)
  }
}

/** Removes the marks from a document. Returns those of its paths by `GET /users/{id}`. */
function takeMarks(document: object): ReadonlyMap<string, number> {
  const { paths = {}, webhooks = {} } = document as { paths?: Operations; webhooks?: Operations }
  const marks = new Map<string, number>()
  for (const [path, item] of [...Object.entries(webhooks), ...Object.entries(paths)])
    for (const [method, operation] of Object.entries(item)) {
      const { [MARK]: mark } = operation
      if (mark !== undefined) marks.set(`${method.toUpperCase()} ${path}`, mark)
      delete operation[MARK]
    }
  return marks
}

function isGuarded(target: Type | Handler): boolean {
  const guards = reflector.get<(Type | object)[] | undefined>(GUARDS, target) ?? []
  return guards.some((each) =>
    reflector.get(GUARD, typeof each === 'function' ? each : (each.constructor as Type)),
  )
}
