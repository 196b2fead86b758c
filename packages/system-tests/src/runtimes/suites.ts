// Runs the adapter suite of one package, which its argument names, without a test runner: on Bun, Deno and Node. It
// prints what fails, and at last how many tests passed.

import { createAdaptorServer } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { type AdapterKit, adapterSuite } from '@sluice/test-suites'
import express from 'express'
import Koa from 'koa'
import { onElysia } from '../../../elysia/src/suite-kit.ts'
import { kitOf as onExpress } from '../../../express/src/suite-kit.ts'
import { kit as onFastify } from '../../../fastify/src/suite-kit.ts'
import { onHono } from '../../../hono/src/suite-kit.ts'
import { kitOf as onKoa } from '../../../koa/src/suite-kit.ts'
import { kit as onNode } from '../../../node/src/suite-kit.ts'
import { elysiaServer } from './elysia-server.ts'
import { nativeAddress, nativeServer } from './native-server.ts'
import { SmallRunner } from './small-runner.ts'

const KITS: Record<string, () => unknown> = {
  express: () => onExpress(express),
  fastify: () => onFastify,
  koa: () => onKoa(Koa),
  node: () => onNode,
  'hono, on @hono/node-server': () =>
    onHono(createAdaptorServer, (c) => getConnInfo(c).remote.address),
  'elysia, on its own server': async () => onElysia(elysiaServer, await elysiaSettings()),
  'hono, on its own server': async () => onHono(nativeServer, await nativeAddress()),
}

/** On Node it has its server from a package. */
async function elysiaSettings() {
  if ('Bun' in globalThis) return {}
  const { node } = await import('@elysiajs/node')
  return { adapter: node() }
}

/** Tests of what a runtime does in its own way: of which runtime and kit, and the title. */
const LEFT_OUT: readonly (readonly [RegExp, title: string])[] = [
  // Their servers take the next request of a connection when they have answered the one before.
  [/own server/, 'requests of one connection have a slot each'],
  // @elysiajs/node listens on none.
  [/^Node: elysia/, 'a client on a Unix socket has no address, and is limited'],
  // Bun gives a text in chunks of 2 MB at most, so one of 10 MB is a stream.
  [/^Bun: (hono|elysia)/, 'a text is done when the application has given it'],
]

const [name = ''] = process.argv.slice(2)
const runtime = 'Bun' in globalThis ? 'Bun' : 'Deno' in globalThis ? 'Deno' : 'Node'
const isLeftOut = (title: string) =>
  LEFT_OUT.some(([where, left]) => left === title && where.test(`${runtime}: ${name}`))
const runner = new SmallRunner(isLeftOut)

const makeKit = KITS[name]
if (makeKit === undefined) throw new Error(`no suite of ${name}`)
adapterSuite(runner, name, (await makeKit()) as AdapterKit<unknown, unknown>)

await runner.run()
process.exit(0)
