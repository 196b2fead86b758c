import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const MODEL = join(import.meta.dirname, 'slots.pml')
/** The deepest that a path of the model gets, steps. */
const DEPTH = '-m200000'

/** What Spin has found. */
export interface Checked {
  /** A mistake of the model that is switched on; undefined: none. */
  readonly mutant: string | undefined
  /** The states that it has been in, all of them unless there is an error. */
  readonly states: number
  /** What was not true; undefined: everything was. */
  readonly violated: string | undefined
}

/** The mistakes that the model has. */
export async function mutantsOfModel(): Promise<readonly string[]> {
  const found = (await readFile(MODEL, 'utf8')).match(/\bMUTANT_[A-Z_]*[A-Z]/g)
  return [...new Set(found)].sort()
}

/** Why the model can't be checked, with how to get what is missing; undefined: it can. */
export async function whyNoSpin(): Promise<string | undefined> {
  try {
    await run('spin', ['-V'])
    await run('gcc', ['--version'])
    return undefined
  } catch {
    return 'it needs spin and gcc: apt-get install spin gcc'
  }
}

/** Lets Spin try all interleavings of the model, with one of its mistakes or without. */
export async function checkModel(mutant?: string): Promise<Checked> {
  const cwd = await mkdtemp(join(tmpdir(), 'sluice-model-'))
  try {
    await run('spin', [...(mutant === undefined ? [] : [`-D${mutant}`]), '-a', MODEL], { cwd })
    await run('gcc', ['-O2', '-w', '-DSAFETY', '-o', 'pan', 'pan.c'], { cwd })
    const { stdout } = await run('./pan', [DEPTH], { cwd })
    const [, states] = stdout.match(/(\d+) states, stored/) ?? []
    const [, errors] = stdout.match(/errors: (\d+)/) ?? []
    if (states === undefined || errors === undefined || stdout.includes('max search depth'))
      throw new Error(`Spin did not end:\n${stdout}`)
    const [, what] = stdout.match(/^pan:1: (.*) \(at depth/m) ?? []
    return {
      mutant,
      states: Number(states),
      violated: errors === '0' ? undefined : (what ?? stdout),
    }
  } finally {
    await rm(cwd, { recursive: true })
  }
}
