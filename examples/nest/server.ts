// An API with Nest on Express: a limit per address, a stricter one for logins, none for health checks.
import 'reflect-metadata'
import { Controller, Get, Module, Post } from '@nestjs/common'
import { APP_GUARD, NestFactory } from '@nestjs/core'
import {
  type Decision,
  memoryStore,
  RateLimit,
  RateLimitDecision,
  RateLimitGuard,
  RateLimitModule,
  SkipRateLimit,
} from '@sluice/nest'
import { Redis } from 'ioredis'

const { HOST = 'localhost', PORT = '3000', REDIS_URL } = process.env

const redis = REDIS_URL === undefined ? undefined : new Redis(REDIS_URL)
redis?.on('error', console.error)
const store = redis ?? memoryStore()

@Controller()
class AccountController {
  @Get()
  show(@RateLimitDecision() decision: Decision | undefined) {
    return { remaining: decision?.remaining }
  }

  @Post('login')
  @RateLimit({ limit: 3, window: '15m' })
  login() {
    return { welcome: true }
  }

  @Get('health')
  @SkipRateLimit()
  health() {
    return 'ok'
  }
}

@Module({
  imports: [RateLimitModule.forRoot({ store, limit: 20, window: '1m' })],
  controllers: [AccountController],
  providers: [{ provide: APP_GUARD, useClass: RateLimitGuard }],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: ['warn', 'error'] })
await app.listen(Number(PORT), HOST)
const { port } = app.getHttpServer().address()
console.log(`http://${HOST}:${port} limits requests and logins`)
console.log(`Try it:  curl -i http://${HOST}:${port}/`)
