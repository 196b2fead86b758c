import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { unwrapped } from '../bindings.ts'
import { ofRateLimiterRes } from '../decision-fields.ts'
import { isCompared, memberOf, planFields } from '../functions.ts'
import { lineStartOf } from '../indent.ts'
import type { Source } from '../source.ts'

/** The code that runs when `consume` rejects, by what it is for. */
export interface RejectionCode {
  /** The code for a refused request. */
  readonly refusal: readonly NodePath<t.Statement>[]
  /** The code for an error; undefined: nothing tells it from a refusal. */
  readonly error: readonly NodePath<t.Statement>[] | undefined
}

/** How a call of `consume` is rewritten. */
export interface ConsumePlan {
  readonly apply: () => void
  /** The behaviour while the store fails: it refuses, as it does a request too many, fails, or goes on. */
  readonly atFailure: 'refuses' | 'fails' | 'handles'
}

const FAILS =
  /\bthrow\b|\bnext\(\s*\w|\breject\(|\breturn false\b|\b(status|sendStatus|code|writeHead)\(\s*[45]\d\d|\bstatus(Code)? = [45]/

/** The behaviour of code for an error, if there is some. */
export function atFailureOf({ error }: RejectionCode): ConsumePlan['atFailure'] {
  if (error === undefined) return 'refuses'
  return error.some((each) => FAILS.test(each.toString())) ? 'fails' : 'handles'
}

/** @param rejected the name of what was rejected with */
export function splitRejection(
  body: NodePath<t.BlockStatement>,
  rejected: string | undefined,
): RejectionCode {
  const statements = body.get('body')
  const [first, ...rest] = statements
  if (!first?.isIfStatement() || rejected === undefined)
    return { refusal: statements, error: undefined }
  const meaning = meaningOf(first.get('test'), rejected)
  if (meaning === undefined) return { refusal: statements, error: undefined }
  const then = statementsOf(first.get('consequent'))
  const alternate = first.get('alternate') as NodePath<t.Statement>
  const other = alternate.node ? [...statementsOf(alternate), ...rest] : rest
  // Code behind both branches belongs to both: it is left alone.
  if (alternate.node ? rest.length > 0 : !exits(then))
    return { refusal: statements, error: undefined }
  return meaning === 'error' ? { refusal: other, error: then } : { refusal: then, error: other }
}

function meaningOf(test: NodePath, rejected: string): 'error' | 'refusal' | undefined {
  const inner = unwrapped(test)
  if (inner.isUnaryExpression({ operator: '!' })) {
    const meaning = meaningOf(inner.get('argument'), rejected)
    return meaning && (meaning === 'error' ? 'refusal' : 'error')
  }
  if (!inner.isBinaryExpression({ operator: 'instanceof' })) return undefined
  if (!(inner.get('left') as NodePath).isIdentifier({ name: rejected })) return undefined
  const right = inner.get('right')
  if (right.isIdentifier({ name: 'Error' })) return 'error'
  return right.isIdentifier({ name: 'RateLimiterRes' }) ? 'refusal' : undefined
}

function statementsOf(path: NodePath<t.Statement>): NodePath<t.Statement>[] {
  return path.isBlockStatement() ? path.get('body') : [path]
}

/** Whether nothing after these statements runs. */
export function exits(statements: readonly NodePath<t.Statement>[]): boolean {
  const last = statements.at(-1)
  return last !== undefined && (last.isReturnStatement() || last.isThrowStatement())
}

/** Whether a statement only does what cannot fail, or hands the request on. */
export function isTrivial(statement: NodePath<t.Statement>): boolean {
  if (statement.isReturnStatement()) {
    const argument = statement.get('argument') as NodePath
    return !argument.node || isNext(argument) || isSafe(argument)
  }
  if (statement.isExpressionStatement()) return isNext(statement.get('expression'))
  return statement.isVariableDeclaration() && isSafe(statement)
}

/** Whether evaluating it calls nothing and waits for nothing. */
function isSafe(path: NodePath): boolean {
  return !/[(`]|\b(await|new|yield)\b/.test(path.toString())
}

function isNext(path: NodePath): boolean {
  const inner = path.isAwaitExpression() ? path.get('argument') : path
  if (!inner.isCallExpression()) return false
  return (
    (inner.get('callee') as NodePath).isIdentifier({ name: 'next' }) &&
    inner.node.arguments.length === 0
  )
}

/**
 * Plans to write the fields of a decision in place of those of a result.
 *
 * @param paths where the result is used
 * @returns undefined if it is used in another way
 */
export function planResult(
  source: Source,
  paths: readonly NodePath[],
  decision: string,
  isRefused: boolean,
): (() => void) | undefined {
  const reads = paths.map(memberOf)
  // A refusal is not counted here, so this is not what it was compared with.
  const isOther = reads.some((read) => read?.name === 'consumedPoints' && isCompared(read.member))
  if (isRefused && isOther) return undefined
  return planFields(source, reads, ofRateLimiterRes(decision, isRefused))
}

/** The uses of a name within some statements. */
export function usesWithin(
  paths: readonly NodePath[],
  statements: readonly NodePath[],
): NodePath[] {
  return paths.filter((path) =>
    statements.some(({ node }) => path.findParent((each) => each.node === node) !== null),
  )
}

/** The text of statements, with what is between them and the comments around them. */
export function innerText(source: Source, statements: readonly NodePath<t.Statement>[]): string {
  const [first, last] = [statements[0], statements.at(-1)]
  if (first === undefined || last === undefined) return ''
  const block = first.parentPath
  if (!block?.isBlockStatement()) return source.current(first.node)
  const siblings = block.node.body
  const from =
    siblings[0] === first.node ? (block.node.start as number) + 1 : ownLineStart(source, first.node)
  const to =
    siblings.at(-1) === last.node ? (block.node.end as number) - 1 : (last.node.end as number)
  return source.edits.slice(from, to)
}

/** Where its line begins, unless something else is on that before it. */
function ownLineStart({ text }: Source, { start }: t.Node): number {
  const from = lineStartOf(text, start as number)
  return text.slice(from, start as number).trim() === '' ? from : (start as number)
}
