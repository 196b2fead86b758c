import { parse } from '@babel/parser'

/** One form of a block of code: a tab. */
export interface Form {
  /** The language of the code, as Markdown names it. */
  readonly language: string
  readonly label: string
  readonly code: string
}

/**
 * The other forms of a block that readers use: each module system, each package manager.
 *
 * @param language as Markdown names it: `js`, `ts`, `sh`
 * @returns the forms, with the one that the document has first; none for a block that has only one
 */
export function formsOf(language: string, code: string): Form[] {
  if (language === 'js' || language === 'ts') return modulesOf(language, code)
  if (language !== 'sh') return []
  if (/^npm install /m.test(code)) return commandsOf(code)
  return code.includes('node server.mjs') ? runsOf(code) : []
}

function modulesOf(language: 'js' | 'ts', code: string): Form[] {
  const required = toCommonJs(code)
  if (required === undefined) return []
  const typed = { language: 'ts', label: 'TypeScript', code }
  const esm = { language: 'js', label: 'ESM', code }
  const common = { language: 'js', label: 'CommonJS', code: required }
  return language === 'ts' ? [typed, esm, common] : [esm, common, typed]
}

/**
 * A module as CommonJS: each import is a `require`, and code that waits stands in a function.
 *
 * @returns undefined if the code has types, exports, or imports nothing
 */
export function toCommonJs(code: string): string | undefined {
  const imports = importsOf(code)
  if (imports === undefined || imports.length === 0) return undefined
  let rest = code
  const requires: string[] = []
  for (const { start, end, source, specifiers } of imports.toReversed()) {
    const names = specifiers.map(({ local, imported }) =>
      imported === undefined || imported === local ? local : `${imported}: ${local}`,
    )
    const [first] = specifiers
    const isOne = first !== undefined && first.imported === undefined
    const name = isOne ? first.local : `{ ${names.join(', ')} }`
    const value = `require('${source}')`
    requires.unshift(first === undefined ? value : `const ${name} = ${value}`)
    rest = rest.slice(0, start) + rest.slice(end).replace(/^\n/, '')
  }
  const body = rest.replace(/^\n+/, '')
  const head = `${requires.join('\n')}\n\n`
  if (!awaits(body)) return head + body
  const indented = body.trimEnd().replace(/^(?=.)/gm, '  ')
  return `${head}async function main() {\n${indented}\n}\n\nmain()\n`
}

interface Import {
  readonly start: number
  readonly end: number
  readonly source: string
  /** `imported` is undefined for a default import, and for all of a module. */
  readonly specifiers: readonly { local: string; imported: string | undefined }[]
}

/** The imports of code without types and exports; undefined for other code, and for imports of more than one kind. */
function importsOf(code: string): Import[] | undefined {
  const found: Import[] = []
  try {
    for (const node of parse(code, { sourceType: 'module' }).program.body) {
      if (node.type.startsWith('Export')) return undefined
      if (node.type !== 'ImportDeclaration') continue
      const specifiers = node.specifiers.map((each) => {
        if (each.type !== 'ImportSpecifier') return { local: each.local.name, imported: undefined }
        const { imported } = each
        return {
          local: each.local.name,
          imported: imported.type === 'Identifier' ? imported.name : imported.value,
        }
      })
      const kinds = new Set(specifiers.map(({ imported }) => imported === undefined))
      if (kinds.size > 1) return undefined
      found.push({
        start: node.start as number,
        end: node.end as number,
        source: node.source.value,
        specifiers,
      })
    }
  } catch {
    return undefined
  }
  return found
}

function awaits(code: string): boolean {
  try {
    parse(code, { sourceType: 'script' })
    return false
  } catch {
    return true
  }
}

/** The commands of each package manager in place of those of npm. */
const MANAGERS = {
  npm: {},
  pnpm: { init: 'init', develop: 'add --save-dev', install: 'add', execute: 'pnpm dlx' },
  yarn: { init: 'init -y', develop: 'add --dev', install: 'add', execute: 'yarn dlx' },
  bun: { init: 'init -y', develop: 'add --dev', install: 'add', execute: 'bunx' },
} as const

function commandsOf(code: string): Form[] {
  return Object.entries(MANAGERS).map(([label, words]) => {
    if (!('install' in words)) return { language: 'sh', label, code }
    const { init, develop, install, execute } = words
    const translated = code
      .replaceAll('npm init -y', `${label} ${init}`)
      .replaceAll('npm install --save-dev', `${label} ${develop}`)
      .replaceAll('npm install', `${label} ${install}`)
      .replace(/^npx/gm, execute)
    return { language: 'sh', label, code: translated }
  })
}

function runsOf(code: string): Form[] {
  return [
    { language: 'sh', label: 'ESM', code },
    {
      language: 'sh',
      label: 'CommonJS',
      code: code.replaceAll('node server.mjs', 'node server.cjs'),
    },
    {
      language: 'sh',
      label: 'TypeScript',
      code: code.replaceAll('node server.mjs', 'npx tsx server.mts'),
    },
  ]
}
