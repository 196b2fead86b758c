import type { Type } from '@nestjs/common'
import { MetadataScanner, Reflector } from '@nestjs/core'
import type { Limiter } from '@sluice/core'
import { checkFunction } from '@sluice/core/internal'
import type { OpenApiDocument, RateLimitOptions, RouteOverrides } from '@sluice/http'
import { type HttpLimiter, RoutedLimiter } from '@sluice/http/adapter'
import { OPTIONS } from './decorators.ts'
import { type AnyRequest, type AnyResponse, nestAdapter } from './request-adapter.ts'

type HandlerLimiter = HttpLimiter<AnyRequest, AnyResponse>
type Handler = (...args: never[]) => unknown

const reflector = new Reflector()

/** Where Nest keeps the path of a controller and of a handler: classes may have the same name. */
const PATH = 'path'

/** The limiters of an application: one for all handlers, and one for each that differs. */
export class RateLimits {
  readonly #all: RoutedLimiter<AnyRequest, AnyResponse>
  /** Whether a guard or the application has asked for a limiter. */
  isUsed = false
  readonly #known = new Map<Type, Map<Handler, HandlerLimiter | undefined>>()

  /** @throws SluiceError for invalid options */
  constructor(options: RateLimitOptions<never, never>) {
    this.#all = new RoutedLimiter(
      options as RateLimitOptions<AnyRequest, AnyResponse>,
      nestAdapter,
      { addsRoutes: true },
    )
  }

  /** All limiters as one, for your own calls. */
  get limiter(): Limiter {
    this.isUsed = true
    return this.#all.limiter
  }

  /**
   * The limiter of a handler; undefined: it is exempt. It is made once.
   * @throws SluiceError for invalid options
   */
  of(controller: Type, handler: Handler): HandlerLimiter | undefined {
    const handlers = this.#known.get(controller) ?? new Map<Handler, HandlerLimiter | undefined>()
    this.#known.set(controller, handlers)
    if (!handlers.has(handler)) handlers.set(handler, this.#compile(controller, handler))
    return handlers.get(handler)
  }

  /**
   * Responds with what the client has used of each policy, without charging it. Call it in a
   * handler with `@SkipRateLimit()`, and pass its `@Req()` and `@Res()`.
   */
  usage(request: object, response: object): Promise<void> {
    return this.#all.usage(
      request as AnyRequest,
      response as AnyResponse,
      (to, body, mediaType) => {
        nestAdapter.setField(to, 'Content-Type', mediaType)
        // As bytes: to text both platforms would add a charset, which JSON does not have.
        to.send?.(Buffer.from(body))
      },
    )
  }

  /**
   * Describes the limits in an OpenAPI document: `await limits.openapi(() =>
   * SwaggerModule.createDocument(app, config))`. Handlers without the guard are left out.
   *
   * @param create makes the document, before it returns
   */
  async openapi<D extends OpenApiDocument>(create: () => D): Promise<D> {
    checkFunction('create', create, '() => SwaggerModule.createDocument(app, config)')
    const { describeHandlers } = await import('./describe-handlers.ts')
    return describeHandlers(create, this.#known)
  }

  /** Makes the limiters of a controller, so that a mistake shows at start. */
  add(controller: Type): void {
    for (const name of methodsOf(controller)) this.of(controller, controller.prototype[name])
  }

  /** Called by Nest when the application has closed its connections. */
  onApplicationShutdown(): void {
    this.#all.limiter.close()
  }

  #compile(controller: Type, handler: Handler): HandlerLimiter | undefined {
    const options = reflector.getAllAndOverride<
      RouteOverrides<AnyRequest, AnyResponse> | false | undefined
    >(OPTIONS, [handler, controller])
    if (options === undefined) return this.#all.base
    // A decorator may have replaced the method by a function of another name.
    const own = methodsOf(controller).find((each) => controller.prototype[each] === handler)
    const name = `${controller.name}.${own ?? handler.name}`
    const paths = [controller, handler].map((each) => reflector.get<unknown>(PATH, each))
    const route = `${name} ${JSON.stringify(paths)}`
    return this.#all.add(route, `${name}: @RateLimit`, options)
  }
}

function methodsOf(controller: Type): string[] {
  return new MetadataScanner().getAllMethodNames(controller.prototype)
}
