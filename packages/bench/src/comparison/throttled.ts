import 'reflect-metadata'
import { ThrottlerStorageRedisService } from '@nest-lab/throttler-storage-redis'
import { Controller, Get, Module } from '@nestjs/common'
import { APP_GUARD, NestFactory } from '@nestjs/core'
import {
  type ThrottlerGetTrackerFunction,
  ThrottlerGuard,
  ThrottlerModule,
  type ThrottlerModuleOptions,
  ThrottlerStorageService,
} from '@nestjs/throttler'
import { clientOf, type Subject } from './subject.ts'

/** Nest's own limiter, with the store for Redis that its documentation names. */
export const throttled: Subject = {
  name: '@nestjs/throttler',
  async serve(limits, redis) {
    @Controller()
    class Root {
      @Get()
      handle() {
        return 'served'
      }
    }
    const throttlers = limits.map(({ limit, windowMs }, i) => {
      // Only of the default one do the fields have their plain names.
      const name = i === 0 ? 'default' : `limit-${i}`
      const getTracker: ThrottlerGetTrackerFunction = async ({ headers }) => clientOf(headers, i)
      return { name, limit, ttl: windowMs, getTracker }
    })
    const options: ThrottlerModuleOptions = {
      throttlers,
      ...(redis && { storage: new ThrottlerStorageRedisService(redis) }),
    }
    @Module({
      imports: [ThrottlerModule.forRoot(options)],
      controllers: [Root],
      providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
    })
    class App {}
    const app = await NestFactory.create(App, { logger: false })
    await app.listen(0, '127.0.0.1')
    return { url: await app.getUrl(), close: () => app.close() }
  },
  async flood(keys) {
    const storage = new ThrottlerStorageService()
    const increment = (key: string) => storage.increment(key, 60_000, 1, 60_000, 'default')
    for (const key of ['client', ...keys]) await increment(key)
    const { isBlocked } = await increment('client')
    const kept = storage.storage.size - 1
    storage.onApplicationShutdown()
    return { kept, freed: !isBlocked }
  },
}
