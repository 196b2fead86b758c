/** A block of code of a document, made into a program. */
export interface Block {
  /** The text behind its backticks: `ts`, `js`, `ts server`, `ts test`. */
  info: string
  /** Line of the document on which it begins. */
  line: number
  /** The text as it was written. */
  source: string
  /** The program: checks every `expression // → value` of the block. */
  program: string
}

/** The application that a block may take for granted, by the package that it imports. */
const APPS: Record<string, string[]> = {
  elysia: ["import { Elysia } from 'elysia'", 'const app = new Elysia()'],
  express: ["import express from 'express'", 'const app = express()'],
  fastify: ["import fastify from 'fastify'", 'const app = fastify()'],
  hono: ["import { Hono } from 'hono'", 'const app = new Hono()'],
  koa: ["import Koa from 'koa'", 'const app = new Koa()'],
}

/** Further names that it may use, as the text around it says. */
const GIVEN = {
  redis: ["import { Redis } from 'ioredis'", 'const redis = new Redis(process.env.REDIS_URL!)'],
}

/** Handlers and functions that a page leaves to its reader, declared. */
const HANDLERS = ['complete', 'download', 'login']
const LEFT_TO_READER: Record<string, string[]> = {
  ...Object.fromEntries(
    HANDLERS.map((name) => [name, [`declare const ${name}: import('express').RequestHandler`]]),
  ),
  accountOf: ['declare function accountOf(c: unknown): string | undefined'],
  userOf: ['declare function userOf(token: unknown): string | undefined'],
  planOf: ["declare function planOf(request: unknown): 'free' | 'pro'"],
  renewalDate: ['declare function renewalDate(request: unknown): string | undefined'],
  warn: ['declare function warn(text: string): void'],
}

/** What the examples of options call. */
const OF_OPTIONS: Record<string, string[]> = {
  rateLimit: ["import { rateLimit } from '@sluice/express'"],
  RateLimitConfig: ["import type { RateLimitConfig } from '@sluice/express'"],
  createLimiter: ["import { createLimiter } from '@sluice/core'"],
  memoryStore: ["import { memoryStore } from '@sluice/core'"],
  redisStore: ["import { redisStore } from '@sluice/core'"],
  postgresStore: ["import { postgresStore } from '@sluice/postgres'"],
  mysqlStore: ["import { mysqlStore } from '@sluice/mysql'"],
  dynamodbStore: ["import { dynamodbStore } from '@sluice/dynamodb'"],
  client: [
    "import { DynamoDBClient } from '@aws-sdk/client-dynamodb'",
    'const client = new DynamoDBClient()',
  ],
  createPool: ["import { createPool } from 'mysql2/promise'"],
  sqliteStore: ["import { sqliteStore } from '@sluice/sqlite'"],
  pool: ["import pg from 'pg'", 'const pool = new pg.Pool()'],
  path: ["const path = process.env.LIMITS ?? 'limits.db'"],
  // Not all Nodes have it, nor do the types of the first.
  Database: ["const Database = (process.getBuiltinModule('node:sqlite') as any).DatabaseSync"],
  accountOf: ['const accountOf = (_: unknown): string | undefined => undefined'],
}

/** Names that the blocks of some documents may use besides. They are compiled, and do not run. */
const GIVEN_IN: Record<string, Record<string, string[]>> = {
  'docs/migrating.md': LEFT_TO_READER,
  'docs/metering.md': {
    pool: ["declare const pool: import('pg').Pool"],
    Stripe: ["import Stripe from 'stripe'"],
    stripe: ["declare const stripe: import('stripe').default"],
    customerOf: ['declare function customerOf(key: string): string'],
    openmeter: ["declare const openmeter: import('@openmeter/sdk').OpenMeter"],
    MeterRecord: ["import type { MeterRecord } from '@sluice/meter'"],
    MeterCount: [
      "import type { MeterCount } from '@sluice/meter'",
      'declare function send(batch: readonly object[]): Promise<void>',
    ],
  },
  'docs/leases.md': OF_OPTIONS,
  'docs/options.md': OF_OPTIONS,
  'docs/options-http.md': OF_OPTIONS,
  'docs/places/mcp.md': {
    provider: ['declare const provider: object'],
    issuerUrl: ['declare const issuerUrl: URL'],
  },
  'docs/plans.md': LEFT_TO_READER,
  'docs/production.md': LEFT_TO_READER,
  'docs/waiting.md': LEFT_TO_READER,
  'packages/elysia/README.md': LEFT_TO_READER,
  'packages/hono/README.md': LEFT_TO_READER,
  'docs/recipes.md': {
    estimateTokens: ["import { estimateTokens } from '@sluice/budget'"],
    rateLimit: ["import { rateLimit } from '@sluice/express'"],
    Request: ["import type { Request } from 'express'"],
    store: ["import { memoryStore } from '@sluice/core'", 'const store = memoryStore()'],
    ...LEFT_TO_READER,
  },
  'packages/test-suites/README.md': {
    runner: ["import * as runner from 'node:test'"],
    adapterSuite: ["import { adapterSuite } from '@sluice/test-suites'"],
    kit: ["declare const kit: import('@sluice/test-suites').AdapterKit<unknown, unknown>"],
    redisStore: ["import { redisStore } from '@sluice/core'"],
    client: ["declare const client: import('ioredis').Redis"],
  },
}

/** All blocks of TypeScript and JavaScript of a document. */
export function blocksOf(document: string, markdown: string): Block[] {
  const blocks: Block[] = []
  const [, adapter = 'express'] = /^(?:packages|docs\/start)\/(\w+)/.exec(document) ?? []
  for (const match of markdown.matchAll(/^```((?:ts|js)(?: \w+)?)\n(.*?)^```$/gms)) {
    const [, info, source] = match as unknown as [string, string, string]
    const line = markdown.slice(0, match.index).split('\n').length
    const imported = /'@sluice\/(\w+)'/.exec(source)?.[1] ?? adapter
    const app = (APPS[imported] ?? APPS[adapter] ?? APPS.express) as string[]
    const program = programOf(source, { ...GIVEN, ...GIVEN_IN[document], app })
    blocks.push({ info, line, source, program })
  }
  return blocks
}

/** The first program of a Markdown text, which is a whole server, as it is written. */
export function serverOf(markdown: string): { language: string; source: string } {
  const [, language, source] = /^```(js|ts)\n(.*?)^```$/ms.exec(markdown) as RegExpExecArray
  return { language: language as string, source: source as string }
}

/** The text of a document with all of its ```ts blocks as one. */
export function joined(markdown: string): string {
  const sources = [...markdown.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, source]) => source)
  return ['```ts\n', ...sources, '```\n'].join('')
}

function programOf(source: string, givens: Record<string, string[]>): string {
  const given = Object.entries(givens)
    .filter(([name]) => uses(source, name) && !declares(source, name))
    .flatMap(([, lines]) => lines)
    .filter((line) => !source.includes(line))
  const checked = source.replace(
    /^(\S.*?) \/\/ → (.+)$/gm,
    (_, expression, value) => `assert.deepEqual(${expression}, ${value})`,
  )
  return ["import assert from 'node:assert/strict'", ...given, checked, 'void assert'].join('\n')
}

function uses(source: string, name: string): boolean {
  return new RegExp(`\\b${name}\\b`).test(source)
}

function declares(source: string, name: string): boolean {
  return new RegExp(`(\\bconst|\\* as|import (?:type )?{[^}]*) ${name}\\b`).test(source)
}
