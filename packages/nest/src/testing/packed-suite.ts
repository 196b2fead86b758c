// The suite of adapters on the newest Nest: system-tests runs it where the packages are installed as
// users get them. That Nest is ESM alone, which Jest does not load.

import 'reflect-metadata'
import * as runner from 'node:test'
import { adapterSuite } from '@sluice/test-suites'
import { memoryStore } from '../index.ts'
import { onExpress, onFastify } from './kits.ts'

const stores = { memory: (clock?: () => number) => memoryStore({ ...(clock && { clock }) }) }

/** Nest 12 brings a Fastify that ignores a number of proxies, Nest 11 one that heeds it. */
const unsafeTrust = [
  [true, 'SLUICE_PROXY_EVERYBODY'],
  [1, 'SLUICE_PROXY_IGNORED'],
] as const

// Nest 11 runs it on Express: see suite.test.ts.
if (process.env.SLUICE_EVERY_STORE === '1')
  adapterSuite(runner, 'Nest 12 on Express', onExpress, stores)
adapterSuite(runner, 'Nest 12 on Fastify', { ...onFastify, unsafeTrust }, stores)
