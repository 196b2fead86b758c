import { type ParserPlugin, parse } from '@babel/parser'
import traverseModule, { type NodePath } from '@babel/traverse'
import type * as t from '@babel/types'

type Traverse = typeof traverseModule.default

// Node imports a CommonJS module as a whole; Jest imports what it exports as its default.
const { default: traverse = traverseModule as unknown as Traverse } = traverseModule as {
  default?: Traverse
}

/** A text that is neither JavaScript nor TypeScript. */
export class SourceSyntaxError extends Error {
  override readonly name = 'SourceSyntaxError'
  /** The number of the line, from 1. */
  readonly line: number
  /** The number of the column, from 1. */
  readonly column: number

  constructor(message: string, line: number, column: number) {
    super(message)
    this.line = line
    this.column = column
  }
}

/** A file as it was parsed. Nothing changes it. */
export interface Parsed {
  readonly name: string
  readonly text: string
  readonly program: NodePath<t.Program>
  /** Names that are declared or global somewhere in the file. */
  readonly names: ReadonlySet<string>
  /** The versions that the package of the file depends on, by the names of packages, as far as they are known. */
  readonly dependencies: Readonly<Record<string, string>>
}

/** @param name the file's name, whose ending says whether it has types, and JSX. @throws SourceSyntaxError */
export function parseFile(
  text: string,
  name: string,
  dependencies: Parsed['dependencies'] = {},
): Parsed {
  const program = parseProgram(text, name)
  return { name, text, program, names: namesIn(program), dependencies }
}

function namesIn(program: NodePath<t.Program>): Set<string> {
  const names = new Set([
    ...Object.keys(program.scope.bindings),
    ...Object.keys((program.scope as { globals?: object }).globals ?? {}),
  ])
  program.traverse({
    Scopable({ scope }) {
      for (const name of Object.keys(scope.bindings)) names.add(name)
    },
  })
  return names
}

const DECORATORS: ParserPlugin[] = ['decorators-legacy', 'decoratorAutoAccessors']

/** @param name the file's name, whose ending says whether it has types, and JSX. @throws SourceSyntaxError */
export function parseProgram(text: string, name: string): NodePath<t.Program> {
  const hasTypes = /\.[cm]?tsx?$/i.test(name)
  const plugins: ParserPlugin[] = [...DECORATORS]
  if (hasTypes) plugins.push('typescript')
  // In a file without JSX, `<T>value` is a cast.
  if (!/\.[cm]?ts$/i.test(name)) plugins.push('jsx')
  let program: NodePath<t.Program> | undefined
  try {
    const ast = parse(text, {
      sourceType: 'unambiguous',
      allowReturnOutsideFunction: true,
      allowAwaitOutsideFunction: true,
      plugins,
    })
    traverse(ast, {
      Program(path) {
        program = path
        path.stop()
      },
    })
  } catch (error) {
    throw toSyntaxError(error)
  }
  return program as NodePath<t.Program>
}

function toSyntaxError(error: unknown): unknown {
  const { loc, message } = error as { loc?: { line: number; column: number }; message: string }
  if (loc === undefined) return error
  return new SourceSyntaxError(message.replace(/ \(\d+:\d+\)$/, ''), loc.line, loc.column + 1)
}
