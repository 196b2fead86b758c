// Prints what a Nest application answers to the first three requests, on Express and on Fastify.

import 'reflect-metadata'
import { Controller, Get, Module } from '@nestjs/common'
import { APP_GUARD, NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { RateLimitGuard, RateLimitModule } from '@sluice/nest'

class Hello {
  hello() {
    return 'hello'
  }
}
Get()(Hello.prototype, 'hello', Object.getOwnPropertyDescriptor(Hello.prototype, 'hello'))
Controller()(Hello)

async function statusesOn(adapter) {
  class App {}
  Module({
    imports: [RateLimitModule.forRoot({ limit: 2, window: '1d' })],
    controllers: [Hello],
    providers: [{ provide: APP_GUARD, useClass: RateLimitGuard }],
  })(App)
  const app = await NestFactory.create(App, adapter, { logger: false })
  await app.listen(0, '127.0.0.1')
  const { port } = app.getHttpServer().address()
  const statuses = []
  for (let i = 0; i < 3; i++) statuses.push((await fetch(`http://127.0.0.1:${port}/`)).status)
  return statuses
}

const statuses = await statusesOn(new ExpressAdapter())
const onFastify = await statusesOn(new FastifyAdapter())
if (String(onFastify) !== String(statuses)) throw new Error(`On Fastify: ${onFastify}`)

console.log(JSON.stringify({ statuses }))
process.exit()
