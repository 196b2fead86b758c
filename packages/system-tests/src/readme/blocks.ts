/** A TypeScript block of a README, made into a program. */
export interface Block {
  /** Line of the README on which it begins. */
  line: number
  /** The text as it was written. */
  source: string
  /** The program: checks every `expression // → value` of the block. */
  program: string
}

/** The application that a block may take for granted, by the package that it imports. */
const APPS: Record<string, string[]> = {
  express: ["import express from 'express'", 'const app = express()'],
  fastify: ["import fastify from 'fastify'", 'const app = fastify()'],
  hono: ["import { Hono } from 'hono'", 'const app = new Hono()'],
  koa: ["import Koa from 'koa'", 'const app = new Koa()'],
}

/** What else it may, as the text around it says. */
const GIVEN = {
  redis: ["import { Redis } from 'ioredis'", 'const redis = new Redis(process.env.REDIS_URL!)'],
}

/**
 * All ```ts blocks of a Markdown text.
 * @param adapter whose application a block takes for granted that imports none. Default: Express
 */
export function blocksOf(markdown: string, adapter = 'express'): Block[] {
  const blocks: Block[] = []
  for (const match of markdown.matchAll(/^```ts\n(.*?)^```$/gms)) {
    const source = match[1] as string
    const line = markdown.slice(0, match.index).split('\n').length
    const imported = /'@sluice\/(\w+)'/.exec(source)?.[1] ?? adapter
    const app = (APPS[imported] ?? APPS[adapter] ?? APPS.express) as string[]
    blocks.push({ line, source, program: programOf(source, { ...GIVEN, app }) })
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
  return new RegExp(`\\bconst ${name}\\b`).test(source)
}
