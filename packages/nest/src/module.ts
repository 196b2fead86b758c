import {
  type DynamicModule,
  type FactoryProvider,
  Module,
  type ModuleMetadata,
} from '@nestjs/common'
import { DiscoveryModule, DiscoveryService } from '@nestjs/core'
import type { RateLimitOptions as CoreOptions, MaybePromise } from '@sluice/core'
import { RateLimits } from './rate-limits.ts'
import type { NestRequest, NestResponse } from './request-adapter.ts'

export type RateLimitOptions<Request = NestRequest, Response = NestResponse> = CoreOptions<
  Request,
  Response
>

/** How Nest makes the options. */
export interface RateLimitAsyncOptions<Request = NestRequest, Response = NestResponse> {
  // biome-ignore lint/suspicious/noExplicitAny: what is injected, as Nest's own types have it
  useFactory(...injected: any[]): MaybePromise<RateLimitOptions<Request, Response>>
  inject?: NonNullable<FactoryProvider['inject']>
  imports?: NonNullable<ModuleMetadata['imports']>
}

/** Provides the limiters everywhere in an application. They close with it. */
// biome-ignore lint/complexity/noStaticOnlyClass: Nest's modules are classes
export class RateLimitModule {
  /** Wrong options make the application's start reject with a SluiceError. */
  static forRoot<Request = NestRequest, Response = NestResponse>(
    options: RateLimitOptions<Request, Response>,
  ): DynamicModule {
    return RateLimitModule.forRootAsync({ useFactory: () => options })
  }

  /** The same with options that Nest makes: `{ useFactory: (config) => …, inject: [ConfigService] }`. */
  static forRootAsync<Request = NestRequest, Response = NestResponse>({
    useFactory,
    inject = [],
    imports = [],
  }: RateLimitAsyncOptions<Request, Response>): DynamicModule {
    const limits: FactoryProvider<RateLimits> = {
      provide: RateLimits,
      inject: [DiscoveryService, ...inject],
      async useFactory(discovery: DiscoveryService, ...injected: unknown[]) {
        const made = new RateLimits((await useFactory(...injected)) as CoreOptions<never, never>)
        for (const { metatype } of discovery.getControllers()) made.add(metatype as never)
        return made
      },
    }
    return {
      module: RateLimitModule,
      global: true,
      imports: [DiscoveryModule, ...imports],
      providers: [limits],
      exports: [limits],
    }
  }
}

Module({})(RateLimitModule)
