/** A TypeScript block of a README, made into a program. */
export interface Block {
  /** Line of the README on which it begins. */
  line: number
  /** The program: checks every `expression // → value` of the block. */
  program: string
}

/** What a block may take for granted, as the text around it says. */
const GIVEN = {
  app: ["import express from 'express'", 'const app = express()'],
  redis: ["import { Redis } from 'ioredis'", 'const redis = new Redis(process.env.REDIS_URL!)'],
}

/** All ```ts blocks of a Markdown text. */
export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = []
  for (const match of markdown.matchAll(/^```ts\n(.*?)^```$/gms)) {
    const line = markdown.slice(0, match.index).split('\n').length
    blocks.push({ line, program: programOf(match[1] as string) })
  }
  return blocks
}

function programOf(source: string): string {
  const given = Object.entries(GIVEN)
    .filter(([name]) => uses(source, name) && !declares(source, name))
    .flatMap(([, lines]) => lines)
  const checked = source.replace(
    /^(\S.*?) \/\/ → (.+)$/gm,
    (_, expression, value) => `assert.deepEqual(${expression}, ${value})`,
  )
  return [
    "import assert from 'node:assert/strict'",
    ...given,
    checked,
    'process.exit(0)',
    'void assert',
  ].join('\n')
}

function uses(source: string, name: string): boolean {
  return new RegExp(`\\b${name}\\b`).test(source)
}

function declares(source: string, name: string): boolean {
  return new RegExp(`\\bconst ${name}\\b`).test(source)
}
