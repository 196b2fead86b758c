// The parts of @loopback/core and @loopback/rest that the pages use.
import type { RequestHandler } from 'express'

type Interceptor = (context: unknown, next: () => unknown) => unknown

export declare function intercept(...interceptors: Interceptor[]): MethodDecorator
export declare function get(path: string): MethodDecorator
export declare function toInterceptor(handler: RequestHandler): Interceptor

export declare class RestApplication {
  expressMiddleware(key: string, handler: RequestHandler): void
  controller(controller: new () => unknown): void
  start(): Promise<void>
}
