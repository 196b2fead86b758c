import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { nameOf } from '../bindings.ts'
import { parseProgram } from '../parse.ts'

/**
 * Makes another text that a user may have written.
 *
 * @param name the file's name
 * @param at chooses the place, any integer from 0 on
 * @returns undefined if there is no such place. What it returns may not parse
 */
export type Mutation = (text: string, name: string, at: number) => string | undefined

interface Span {
  readonly start: number
  readonly end: number
}

/** Mutations of how code is written, where its names are from, and what options it has. */
export const MUTATIONS = {
  spaced: between('  '),
  broken: between('\n'),
  commented: between('/* why */'),
  annotated: between(' // why\n'),
  parenthesized: around('(', ')'),
  cast: around('(', ' as any)'),
  satisfying: around('(', ' satisfies object)'),
  asserted: around('(', ')!'),
  spread: around('...', ''),
  conditional: around('(process.env.X ? ', ' : undefined)'),
  printed: (text, name) => parseProgram(text, name).toString(),
  indented: (text) => text.replace(/^ +/gm, (spaces) => '\t'.repeat(spaces.length / 2)),
  inOneLine: (text) => (/(?<!:)\/\//.test(text) ? undefined : text.replace(/\n\s*/g, ' ')),
  removed: (text, name, at) => {
    const span = pick(text, name, at, isListed)
    if (span === undefined) return undefined
    const comma = /^\s*,/.exec(text.slice(span.end))?.[0] ?? ''
    return replaced(text, { start: span.start, end: span.end + comma.length }, '')
  },
  /** A limiter, an option, an argument. */
  repeated: (text, name, at) => {
    const span = pick(text, name, at, isListed)
    if (span === undefined) return undefined
    const separator = text.charAt(span.end) === ',' ? ', ' : '\n'
    return replaced(text, { start: span.end, end: span.end }, separator + slice(text, span))
  },
  /** An expression that a constant keeps. */
  extracted: (text, name, at) => {
    const path = pickPath(text, name, at, (each) => each.isExpression() && !each.isIdentifier())
    const statement = path?.getStatementParent()
    if (path === undefined || !statement) return undefined
    const changed = replaced(text, spanOf(path), 'extracted')
    const { start } = spanOf(statement)
    const declaration = `const extracted = ${slice(text, spanOf(path))}\n`
    return replaced(changed, { start, end: start }, declaration)
  },
  renamed,
  required,
  imported,
} satisfies Readonly<Record<string, Mutation>>

function between(inserted: string): Mutation {
  return (text, _, at) => {
    const gaps = [...text.matchAll(/(?<=[\s(){}[\],;:=.])|(?=[\s(){}[\],;:=.])/g)]
    const start = gaps[at % gaps.length]?.index
    return start === undefined ? undefined : replaced(text, { start, end: start }, inserted)
  }
}

function around(before: string, after: string): Mutation {
  return (text, name, at) => {
    const span = pick(text, name, at, (path) => path.isExpression())
    return span && replaced(text, span, before + slice(text, span) + after)
  }
}

/** A name of the program and its uses. */
function renamed(text: string, name: string, at: number): string | undefined {
  const bindings = Object.values(parseProgram(text, name).scope.bindings)
  const binding = bindings[at % Math.max(1, bindings.length)]
  if (binding === undefined) return undefined
  const paths = [binding.path, ...binding.referencePaths]
  const { identifier } = binding
  const spans = [identifier, ...binding.referencePaths.map(({ node }) => node)] as unknown as Span[]
  const isShort = (span: Span) =>
    paths.some(
      ({ node, parent }) =>
        parent.type === 'ObjectProperty' && parent.shorthand && node.start === span.start,
    )
  const { parent, node } = binding.path
  const isNamed = node.type === 'ImportSpecifier' && nameOf(node.imported) === identifier.name
  const isDeclared = parent.type === 'ImportDeclaration' && isNamed
  const last = (one: Span, other: Span) => other.start - one.start
  return [...new Map(spans.map((each) => [each.start, each])).values()]
    .sort(last)
    .reduce((changed, span) => {
      const isImport = isDeclared && span.start === identifier.start
      const prefix = isImport
        ? `${identifier.name} as `
        : isShort(span)
          ? `${identifier.name}: `
          : ''
      const end = span.start + identifier.name.length
      return replaced(changed, { start: span.start, end }, `${prefix}${identifier.name}Own`)
    }, text)
}

/** `import` as `require`. */
function required(text: string, name: string, at: number): string | undefined {
  const path = pickPath(
    text,
    name,
    at,
    (each) => each.isImportDeclaration() && each.node.importKind !== 'type',
  ) as NodePath<t.ImportDeclaration> | undefined
  if (path === undefined) return undefined
  const { specifiers, source } = path.node
  const load = `require('${source.value}')`
  const named = specifiers.flatMap((each) =>
    each.type === 'ImportSpecifier' ? [`${nameOf(each.imported)}: ${each.local.name}`] : [],
  )
  const wholes = specifiers.flatMap((each) =>
    each.type === 'ImportSpecifier' ? [] : [`const ${each.local.name} = ${load}`],
  )
  const lines = [
    ...wholes,
    ...(named.length > 0 ? [`const { ${named.join(', ')} } = ${load}`] : []),
  ]
  return replaced(text, spanOf(path), lines.join('\n'))
}

/** `require` as `import`. */
function imported(text: string): string | undefined {
  const [first] = text.matchAll(/const (\w+|\{[^}]*\}) = require\(('[^']*')\)/g)
  if (first === undefined) return undefined
  const [whole, names = '', module] = first
  const span = { start: first.index, end: first.index + whole.length }
  return replaced(text, span, `import ${names.replaceAll(':', ' as')} from ${module}`)
}

function isListed(path: NodePath): boolean {
  return path.listKey !== undefined
}

function pick(...given: Parameters<typeof pickPath>): Span | undefined {
  const path = pickPath(...given)
  return path && spanOf(path)
}

function pickPath(
  text: string,
  name: string,
  at: number,
  isPlace: (path: NodePath) => boolean,
): NodePath | undefined {
  const places: NodePath[] = []
  parseProgram(text, name).traverse({
    enter(path) {
      if (isPlace(path)) places.push(path)
    },
  })
  return places[at % Math.max(1, places.length)]
}

const spanOf = ({ node }: NodePath) => node as unknown as Span
const slice = (text: string, { start, end }: Span) => text.slice(start, end)

function replaced(text: string, { start, end }: Span, by: string): string {
  return text.slice(0, start) + by + text.slice(end)
}
