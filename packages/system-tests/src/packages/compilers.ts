// The packed declarations, compiled by the versions of TypeScript that users have, each with all of its
// ways to resolve modules.

import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

/** The first supported, those whose defaults projects still have, and the newest. */
const VERSIONS = ['5.0', '5.4', '5.9', '7'] as const

/** `moduleResolution`, with the `module` that goes with it. TypeScript 7 no longer has node10. */
const RESOLUTIONS = {
  node10: 'commonjs',
  node16: 'node16',
  nodenext: 'nodenext',
  bundler: 'esnext',
}

export const COMPILATIONS = VERSIONS.flatMap((version) =>
  Object.entries(RESOLUTIONS)
    .filter(([resolution]) => version !== '7' || resolution !== 'node10')
    .map(([resolution, module]) => [version, resolution, module] as const),
)

/** What is compiled. Nest 12 and Koa's types ask for a newer compiler themselves. */
const SOURCES = ['types.ts', 'node.ts', 'hono.ts']

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

/**
 * @param run rejects with all output if the command fails
 * @returns what the compiler finds in the sources and in the packages' declarations; those of others may
 *   not be ones that it can read
 */
export async function problemsOf(
  project: string,
  [version, resolution, module]: (typeof COMPILATIONS)[number],
  run: (cwd: string, command: string, args: string[]) => Promise<string>,
): Promise<string[]> {
  const tsc = join(project, '.compilers/node_modules', `typescript${version}`, 'bin/tsc')
  const options = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--pretty', 'false']
  const resolving = ['--module', module, '--moduleResolution', resolution, '--esModuleInterop']
  const args = [tsc, ...options, ...resolving, '--target', 'es2022', '--types', 'node', ...SOURCES]
  try {
    await run(join(project, 'compiled'), process.execPath, args)
    return []
  } catch (error) {
    const lines = (error as Error).message.split('\n').filter((line) => / error TS/.test(line))
    if (lines.length === 0) throw error
    return lines.filter((line) => !/node_modules\/(?!@sluice\/)/.test(line))
  }
}
