import { expressContenders } from './express.ts'
import { fastifyContenders } from './fastify.ts'
import type { HttpContenders } from './http.ts'
import { koaContenders } from './koa.ts'

export const frameworks = {
  Express: expressContenders,
  Fastify: fastifyContenders,
  Koa: koaContenders,
} satisfies { readonly [framework: string]: HttpContenders }

export type FrameworkName = keyof typeof frameworks
