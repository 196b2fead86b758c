// The packed declarations, compiled by the versions of TypeScript that users have: the first and the
// newest with their ways to resolve modules, those between with one. What a version can't read, it can't
// read however it has found it.

import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

/** The first supported, those whose defaults projects still have, and the newest. */
export const VERSIONS = ['5.0', '5.4', '5.9', '7'] as const

/** `moduleResolution`, with the `module` that goes with it. TypeScript 7 has no node10. */
const RESOLUTIONS = {
  node10: 'commonjs',
  node16: 'node16',
  nodenext: 'nodenext',
  bundler: 'esnext',
}

/** The files that are compiled. Nest 12 and Koa's types ask for a newer compiler themselves. */
const SOURCES = ['types.ts', 'node.ts', 'hono.ts']

type Version = (typeof VERSIONS)[number]
type Way = keyof typeof RESOLUTIONS

/** Nodenext finds what node16 finds; another test compiles with TypeScript 7 and nodenext. */
const WAYS: Record<Version, readonly Way[]> = {
  '5.0': ['node10', 'node16', 'bundler'],
  5.4: ['nodenext'],
  5.9: ['nodenext'],
  7: ['node16', 'bundler'],
}

/**
 * @param project has the packages installed
 * @param sources the folder of what is compiled
 * @param npm runs npm there
 */
export async function installCompilers(
  project: string,
  sources: string,
  npm: (...args: string[]) => Promise<unknown>,
): Promise<void> {
  mkdirSync(join(project, 'compiled'))
  for (const file of SOURCES) copyFileSync(join(sources, file), join(project, 'compiled', file))
  const wanted = VERSIONS.map((version) => `typescript${version}@npm:typescript@${version}`)
  const options = ['--no-audit', '--no-fund', '--prefer-offline']
  await npm('install', ...options, '--prefix', join(project, '.compilers'), ...wanted)
}

/** The options of both forms of compiling. */
const OPTIONS = {
  noEmit: true,
  strict: true,
  skipLibCheck: false,
  esModuleInterop: true,
  target: 'es2022',
  types: ['node'],
}

type Run = (cwd: string, command: string, args: string[]) => Promise<string>

/**
 * @param run rejects with all output if the command fails
 * @returns what the compiler finds in the sources and in the packages' declarations, for each way to
 *   resolve modules; those of others may not be ones that it can read
 */
export async function problemsOf(
  project: string,
  version: Version,
  run: Run,
): Promise<Record<string, string[]>> {
  const ways = WAYS[version]
  const options = ways.map((way) => ({
    ...OPTIONS,
    module: RESOLUTIONS[way],
    moduleResolution: way,
  }))
  const typescript = join(project, '.compilers/node_modules', `typescript${version}`)
  const folder = join(project, 'compiled')
  const find = version === '7' ? byCommand : byProgram
  const found = await find(typescript, options, (args) => run(folder, process.execPath, args))
  return Object.fromEntries(ways.map((way, i) => [way, found[i] as string[]]))
}

type Options = readonly (typeof OPTIONS & { module: string; moduleResolution: string })[]
type RunNode = (args: string[]) => Promise<string>

function byProgram(typescript: string, options: Options, node: RunNode) {
  const projects = options.map((each) => ({ compilerOptions: each, files: SOURCES }))
  return diagnose(typescript, projects, node)
}

/**
 * Compiles projects with a version of TypeScript that is JavaScript, by diagnose.mjs.
 * @param typescript the folder of the compiler
 * @param projects what their tsconfig.json has
 * @param node runs Node in the folder of the projects
 * @returns lines for each project
 */
export async function diagnose(
  typescript: string,
  projects: readonly object[],
  node: RunNode,
): Promise<string[][]> {
  const script = join(import.meta.dirname, 'diagnose.mjs')
  return JSON.parse(await node([script, typescript, JSON.stringify(projects)]))
}

/** TypeScript 7 is a binary, and has no functions to call. */
function byCommand(typescript: string, options: Options, node: RunNode): Promise<string[][]> {
  return Promise.all(
    options.map(async (each) => {
      const flags = Object.entries(each).flatMap(([name, value]) => [`--${name}`, `${value}`])
      try {
        await node([join(typescript, 'bin/tsc'), '--pretty', 'false', ...flags, ...SOURCES])
        return []
      } catch (error) {
        const lines = (error as Error).message.split('\n').filter((line) => / error TS/.test(line))
        if (lines.length === 0) throw error
        return lines.filter((line) => !/node_modules\/(?!@sluice\/)/.test(line))
      }
    }),
  )
}
