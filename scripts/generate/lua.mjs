// The Lua of the steps: algorithms/<name>/<name>.lua.generated.ts, from the module with the step.

import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { root } from '../workspace.mjs'
import { functionOf, stepsOf } from './lua/step.mjs'

const ALGORITHMS = 'packages/core/src/algorithms'
/** Functions of ticks.ts that steps call. */
const SHARED = ['tickAt', 'tickStart', 'tickFrom', 'greatestCommonDivisor']

export function lua() {
  const files = readdirSync(join(root, ALGORITHMS), { recursive: true, encoding: 'utf8' })
  const paths = files.filter((file) => file.endsWith('.ts')).map((file) => join(ALGORITHMS, file))
  const steps = paths.sort().filter((path) => / satisfies (Partial<)?Step</.test(read(path)))
  return [ticks(), ...steps.map(stepsIn)]
}

/** A constant `step` has the name of its module in Lua. */
function stepsIn(path) {
  const imported = (from) => read(join(dirname(path), from))
  const camelCase = basename(path, '.ts').replace(/-(.)/g, (_, letter) => letter.toUpperCase())
  const steps = stepsOf(read(path), { path, imported, shared: SHARED })
  const texts = steps.flatMap(({ name, constants, sections }) => [
    '',
    `export const ${name === 'step' ? camelCase : name}Lua = {`,
    `  constants: [${constants.map((each) => `'${each}'`).join(', ')}],`,
    ...sections.map(([section, lines]) => `  ${section}: \`${block(lines, 4)}\`,`),
    '} as const satisfies Partial<LuaStep>',
  ])
  return file(path, ["import type { LuaStep } from '../lua-step.ts'", ...texts])
}

function ticks() {
  const path = join(ALGORITHMS, 'ticks.ts')
  const lines = SHARED.flatMap((name) => functionOf(read(path), name, { path, shared: SHARED }))
  return file(path, [
    '/** Names that the script declares: where no limit needs ticks, `ticksLua` is left out. */',
    `export const TICKS_LUA = 'local ${SHARED.join(', ')}'`,
    '',
    `export const ticksLua = \`${block(lines, 0)}\``,
  ])
}

function file(path, lines) {
  const head = `// Generated from ${basename(path)} by "npm run generate". Do not edit.`
  return [path.replace(/\.ts$/, '.lua.generated.ts'), `${[head, '', ...lines].join('\n')}\n`]
}

function block(lines, indentation) {
  return lines.map((line) => `\n${' '.repeat(indentation)}${line}`).join('')
}

function read(path) {
  return readFileSync(join(root, path), 'utf8')
}
