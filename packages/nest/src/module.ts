import {
  type DynamicModule,
  type FactoryProvider,
  Inject,
  Module,
  type ModuleMetadata,
  Optional,
  type Provider,
  type Type,
} from '@nestjs/common'
import { DiscoveryModule, DiscoveryService, ModulesContainer } from '@nestjs/core'
import { type MaybePromise, SluiceError } from '@sluice/core'
import { warnOnce } from '@sluice/core/internal'
import type { RateLimitOptions as CoreOptions } from '@sluice/http'
import { RateLimits } from './rate-limits.ts'
import type { NestRequest, NestResponse } from './request-adapter.ts'

export type RateLimitOptions<Request = NestRequest, Response = NestResponse> = CoreOptions<
  Request,
  Response
>

/** A class that creates the options, for `useClass` and `useExisting` of `forRootAsync`. */
export interface RateLimitOptionsFactory<Request = NestRequest, Response = NestResponse> {
  createRateLimitOptions(): MaybePromise<RateLimitOptions<Request, Response>>
}

type Imports = NonNullable<ModuleMetadata['imports']>
type Token = NonNullable<FactoryProvider['inject']>[number]

/** How Nest makes the options: by one of `useFactory`, `useClass` and `useExisting`. */
export type RateLimitAsyncOptions<Request = NestRequest, Response = NestResponse> = {
  imports?: Imports
} & (
  | {
      // biome-ignore lint/suspicious/noExplicitAny: what is injected, as Nest's own types have it
      useFactory(...injected: any[]): MaybePromise<RateLimitOptions<Request, Response>>
      inject?: Token[]
      useClass?: undefined
      useExisting?: undefined
    }
  | {
      /** Nest makes one for this module, with what its constructor injects. */
      useClass: Type<RateLimitOptionsFactory<Request, Response>>
      useFactory?: undefined
      useExisting?: undefined
    }
  | {
      /** A provider of `imports`, or a global one. */
      useExisting: Type<RateLimitOptionsFactory<Request, Response>> | string | symbol
      useFactory?: undefined
      useClass?: undefined
    }
)

/** Provides the limiters to the whole application, and closes them with it. */
export class RateLimitModule {
  readonly #limits: RateLimits
  readonly #discovery: DiscoveryService | undefined

  /** @throws SluiceError in an application that imports it without `forRoot` or `forRootAsync` */
  constructor(limits?: RateLimits, discovery?: DiscoveryService) {
    if (limits === undefined) throw withoutOptions()
    this.#limits = limits
    this.#discovery = discovery
  }

  /** Called by Nest at start, when it has made all guards but those of a request's own. */
  onApplicationBootstrap(): void {
    if (this.#limits.isUsed || this.#discovery === undefined || isInjected(this.#discovery)) return
    warnOnce(
      'SLUICE_NO_GUARD',
      'RateLimitModule is imported, but nothing uses RateLimitGuard or RateLimits, so it limits no request. Add ' +
        '{ provide: APP_GUARD, useClass: RateLimitGuard } to the providers, or @UseGuards(RateLimitGuard).',
    )
  }

  /**
   * Makes the module. Import it once: a second import with other options makes the application's start reject
   * with a SluiceError, as wrong options do.
   */
  static forRoot<Request = NestRequest, Response = NestResponse>(
    options: RateLimitOptions<Request, Response>,
  ): DynamicModule {
    return RateLimitModule.forRootAsync({ useFactory: () => options })
  }

  /**
   * Makes the module with options that Nest makes: `{ useFactory: (config) => …, inject: [ConfigService] }`,
   * `{ useClass: LimitOptions }` or `{ useExisting: LimitOptions }`.
   *
   * @throws SluiceError if it is none of these, or several
   */
  static forRootAsync<Request = NestRequest, Response = NestResponse>(
    options: RateLimitAsyncOptions<Request, Response>,
  ): DynamicModule {
    const { inject, make, providers } = optionsOf(options as RateLimitAsyncOptions<never, never>)
    const limits: FactoryProvider<RateLimits> = {
      provide: RateLimits,
      inject: [DiscoveryService, ModulesContainer, ...inject],
      async useFactory(
        discovery: DiscoveryService,
        modules: ModulesContainer,
        ...injected: unknown[]
      ) {
        checkOnlyOne(modules)
        const made = new RateLimits(await make(...injected))
        for (const { metatype } of discovery.getControllers()) made.add(metatype as never)
        return made
      },
    }
    return {
      module: RateLimitModule,
      global: true,
      imports: [DiscoveryModule, ...(options.imports ?? [])],
      providers: [...providers, limits],
      exports: [limits],
    }
  }
}

const WAYS = ['useFactory', 'useClass', 'useExisting'] as const

/** What makes the options, and what Nest has to inject and to make for that. */
function optionsOf(options: RateLimitAsyncOptions<never, never>): {
  readonly inject: readonly Token[]
  make(...injected: unknown[]): MaybePromise<CoreOptions<never, never>>
  readonly providers: readonly Provider[]
} {
  const given = WAYS.filter((way) => options[way] !== undefined)
  if (given.length !== 1) {
    throw new SluiceError({
      code: 'SLUICE_OPTION_CONFLICT',
      option: 'RateLimitModule.forRootAsync',
      expected: 'one of useFactory, useClass and useExisting',
      said: given.join(' and ') || 'none of them',
      fix: 'Give the one that makes the options.',
    })
  }
  if (options.useFactory !== undefined) {
    return { inject: options.inject ?? [], make: options.useFactory, providers: [] }
  }
  const { useClass, useExisting } = options
  return {
    inject: [useClass ?? useExisting],
    make: (factory: RateLimitOptionsFactory<never, never>) => factory.createRateLimitOptions(),
    providers: useClass === undefined ? [] : [useClass],
  }
}

/** Whether a class or a factory of the application gets the limiters, for calls by hand. */
function isInjected(discovery: DiscoveryService): boolean {
  return [...discovery.getProviders(), ...discovery.getControllers()].some((each) => {
    const properties = each.getPropertiesMetadata() ?? []
    const given = [...(each.getCtorMetadata() ?? []), ...properties.map(({ wrapper }) => wrapper)]
    return each.metatype !== RateLimitModule && given.some((one) => one?.token === RateLimits)
  })
}

/** Refuses a second module: of several, Nest would take any for a guard, without a word. */
function checkOnlyOne(modules: ModulesContainer): void {
  const found = [...modules.values()].filter(
    ({ metatype, providers }) => metatype === RateLimitModule && providers.has(RateLimits),
  )
  if (found.length < 2) return
  throw new SluiceError({
    code: 'SLUICE_OPTION_CONFLICT',
    option: 'RateLimitModule.forRoot',
    expected: 'one import in an application',
    said: `${found.length} imports with options of their own`,
    fix: 'Import it in the root module alone: it is global. For several limits, use policies or @RateLimit; for a limiter of its own, give a guard its own: new RateLimitGuard(new RateLimits(options)).',
  })
}

function withoutOptions(): SluiceError {
  return new SluiceError({
    code: 'SLUICE_OPTION_TYPE',
    option: 'RateLimitModule',
    expected: 'an import with options',
    received: undefined,
    fix: "Write imports: [RateLimitModule.forRoot({ limit: 100, window: '1m' })].",
  })
}

Module({})(RateLimitModule)
Optional()(RateLimitModule, undefined as never, 0)
Inject(RateLimits)(RateLimitModule, undefined as never, 0)
Optional()(RateLimitModule, undefined as never, 1)
Inject(DiscoveryService)(RateLimitModule, undefined as never, 1)
