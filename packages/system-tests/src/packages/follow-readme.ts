// The README of an example, as a reader follows it in a terminal.

import { execFile, spawn } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { until } from '@sluice/test-harness/redis'

/** A block of commands, and the block behind it that shows what they print. */
interface Step {
  readonly commands: string
  readonly shown: string | undefined
}

export interface Surroundings {
  /** The port in place of 3000. */
  readonly port: number
  /** The environment of all commands. */
  readonly env: NodeJS.ProcessEnv
  /** What takes the place of npm. */
  readonly manager?: string | undefined
  /** Empties the stores: a further attempt must not find what the last one has counted. */
  readonly clear: () => Promise<void>
}

/**
 * How often an example is started until its output is as shown: the end of a window gives units back, and
 * on a busy machine the first call of a store may miss its deadline.
 */
const ATTEMPTS = 3

/**
 * Installs what the examples depend on, with the packed packages in place of the published ones: once
 * for all, beside their folders, since an installation takes longer than an example. What an example
 * imports without a dependency is not found where the workspace runs it.
 *
 * @param sources the folder of the examples
 * @param project has the tarballs; the examples go into its folder `examples`
 * @param npm runs npm
 */
export async function installExamples(
  sources: string,
  project: string,
  npm: (...args: string[]) => Promise<unknown>,
): Promise<void> {
  const wanted = new Map<string, string>()
  for (const name of readdirSync(sources)) {
    const manifest = JSON.parse(readFileSync(join(sources, name, 'package.json'), 'utf8'))
    const needed = { ...manifest.dependencies, ...manifest.devDependencies }
    for (const [dependency, range] of Object.entries<string>(needed)) {
      if (dependency.startsWith('@sluice/')) continue
      if ((wanted.get(dependency) ?? range) !== range)
        throw new Error(`examples depend on ${dependency} ${range} and ${wanted.get(dependency)}`)
      wanted.set(dependency, range)
    }
  }
  const tarballs = readdirSync(project).filter((file) => file.endsWith('.tgz'))
  const folder = join(project, 'examples')
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  const options = ['--no-audit', '--no-fund', '--prefer-offline', '--prefix', folder]
  const ranges = [...wanted].map(([name, range]) => `${name}@${range}`)
  await npm('install', ...options, ...ranges, ...tarballs.map((file) => join(project, file)))
}

/**
 * Copies an example and follows its README: everything prints what is shown.
 *
 * @param example its folder in the repository
 * @param folder where it goes, beside what it needs
 */
export async function followReadme(
  example: string,
  folder: string,
  { port, env, manager = 'npm', clear }: Surroundings,
): Promise<void> {
  cpSync(example, folder, { recursive: true, filter: (path) => !path.endsWith('node_modules') })
  const steps = stepsOf(readFileSync(join(folder, 'README.md'), 'utf8'))
  const start = steps.findIndex(({ commands }) => commands.endsWith('npm start\n'))
  const starting = steps[start]
  if (starting === undefined) throw new Error('the README does not start the example')
  const options = { cwd: folder, env: { ...env, PORT: `${port}` } }
  const sh = async (shown: string) => {
    const commands = shown.replaceAll(':3000', `:${port}`).replaceAll(/^npm\b/gm, manager)
    return (await promisify(execFile)('bash', ['-c', commands], options)).stdout
  }
  if (!starting.commands.startsWith('npm install\n')) throw new Error('the README does not install')
  const prepare = starting.commands.replace('npm install\n', '').replace('npm start\n', '')

  const asShown = (printed: string) => comparable(printed, port, env)
  const attempt = async () => {
    await clear()
    await sh(prepare)
    const server = spawn(manager, ['start'], { ...options, detached: true })
    let output = ''
    for (const stream of [server.stdout, server.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    try {
      const expected = asShown(starting.shown ?? '')
      const isStarted = () => asShown(output).includes(expected)
      await until(isStarted, { withinMs: 30_000, what: `it prints ${expected}` }).catch(() => {
        throw new Error(`${manager} start printed ${output} instead of ${expected}`)
      })
      for (const { commands, shown } of steps.slice(start + 1)) {
        const printed = asShown(await sh(commands))
        if (shown !== undefined && printed !== asShown(shown))
          throw new Error(`${commands} printed\n${printed}\ninstead of\n${shown}`)
      }
    } finally {
      if (server.exitCode === null) {
        const exited = new Promise((resolve) => server.once('exit', resolve))
        process.kill(-(server.pid as number))
        await exited
      }
    }
  }
  for (let i = 1; ; i += 1)
    try {
      return await attempt()
    } catch (error) {
      if (i === ATTEMPTS) throw error
    }
}

function stepsOf(readme: string): Step[] {
  const blocks = readme.matchAll(/^```sh\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?/gms)
  return [...blocks].map(([, commands = '', shown]) => ({ commands, shown }))
}

/** The text with the addresses of the README, and without what differs from time to time. */
function comparable(text: string, port: number, env: NodeJS.ProcessEnv): string {
  return text
    .replaceAll(`:${port}`, ':3000')
    .replaceAll(env.REDIS_URL ?? 'redis://localhost:6379', 'redis://localhost:6379')
    .replace(/(?<=;t=|Retry-After: )\d+/g, 'N')
    .trim()
}
