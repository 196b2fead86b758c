import { expressContenders } from './express.ts'
import { fastifyContenders } from './fastify.ts'
import { hono1Contenders, honoContenders } from './hono.ts'
import type { HttpContenders } from './http.ts'
import { koaContenders } from './koa.ts'

export const frameworks = {
  Express: expressContenders,
  Fastify: fastifyContenders,
  Koa: koaContenders,
  Hono: honoContenders,
  'Hono on @hono/node-server 1': hono1Contenders,
} satisfies { readonly [framework: string]: HttpContenders }

export type FrameworkName = keyof typeof frameworks
