import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { readsOf } from '../bindings.ts'
import { statementsAt } from '../indent.ts'
import type { Source } from '../source.ts'
import {
  atFailureOf,
  type ConsumePlan,
  exits,
  innerText,
  isTrivial,
  planResult,
  splitRejection,
  usesWithin,
} from './refusal-code.ts'

type Statement = NodePath<t.Statement>

/**
 * `try { await limiter.consume(key) … } catch (rejected) { … }`.
 *
 * @param consume the call as it will be
 * @returns undefined if the call is not in such a place, or the code does more
 */
export function planTry(
  source: Source,
  call: NodePath<t.CallExpression>,
  consume: string,
): ConsumePlan | undefined {
  const statement = statementOf(call)
  const block = statement?.parentPath
  const attempt = block?.parentPath
  if (!statement || !block?.isBlockStatement() || !attempt?.isTryStatement()) return undefined
  const caught = attempt.get('handler') as NodePath<t.CatchClause>
  if (block.key !== 'block' || !caught.node || attempt.node.finalizer) return undefined
  const { param } = caught.node
  if (param && param.type !== 'Identifier') return undefined
  const name = resultName(source, statement, attempt)
  const uses = param ? (caught.scope.getBinding(param.name)?.referencePaths ?? []) : []
  const split = splitRejection(caught.get('body'), param?.name)
  const { refusal } = split
  const isRethrown = split.error?.length === 1 && isThrowOf(split.error[0], param?.name)
  const error = isRethrown ? undefined : split.error
  const others = block.get('body').filter((each) => each.node !== statement.node)
  if (error === undefined && !isRethrown && !others.every(isTrivial)) return undefined
  if (error !== undefined && (error.length === 0 || !(exits(error) || isLast(attempt))))
    return undefined
  const rest = others.filter(({ node }) => Number(node.start) > Number(statement.node.start))
  const isEnd = exits(refusal) || isLast(attempt)
  if (rest.length > 0 && !isEnd) return undefined
  const fields = planResult(source, usesWithin(uses, refusal), name, true)
  const results = planResult(source, readsOf(call.parentPath as NodePath), name, false)
  if (fields === undefined || results === undefined) return undefined
  if (error === undefined && !claimNames(source, block, attempt)) return undefined
  return {
    atFailure: atFailureOf(split),
    apply() {
      fields()
      results()
      const needsReturn = rest.length > 0 && !exits(refusal)
      const parts = { statement, attempt, caught, refusal, error, needsReturn }
      rewrite(source, parts, `const ${name} = await ${consume}`, name)
    },
  }
}

function isThrowOf(statement: Statement | undefined, name: string | undefined): boolean {
  return statement?.isThrowStatement() === true && statement.get('argument').isIdentifier({ name })
}

interface Parts {
  readonly statement: Statement
  readonly attempt: NodePath<t.TryStatement>
  readonly caught: NodePath<t.CatchClause>
  readonly refusal: readonly Statement[]
  readonly error: readonly Statement[] | undefined
  readonly needsReturn: boolean
}

function rewrite(source: Source, parts: Parts, declaration: string, name: string): void {
  const { statement, attempt, caught, refusal, error, needsReturn } = parts
  const { eol } = source
  const outer = source.indentOf(attempt.node)
  const inner = source.indentOf(statement.node)
  const unit = inner.startsWith(outer) && inner !== outer ? inner.slice(outer.length) : '  '
  const semicolon = source.original(statement.node).endsWith(';') ? ';' : ''
  const at = error === undefined ? outer : inner
  const code = statementsAt(innerText(source, refusal), at + unit)
  const check = [
    `${declaration}${semicolon}`,
    `${at}if (!${name}.allowed) {`,
    ...(code.trim() === '' ? [] : [code]),
    ...(needsReturn ? [`${at}${unit}return${semicolon}`] : []),
    `${at}}`,
  ].join(eol)
  if (error !== undefined) {
    const handling = statementsAt(innerText(source, error), inner)
    source.replace(statement.node, check)
    source.replace(caught.node.body, `{${eol}${handling}${eol}${outer}}`)
    return
  }
  const { start, end } = attempt.node.block
  const before = source.edits.slice((start as number) + 1, statement.node.start as number)
  const after = source.edits.slice(statement.node.end as number, (end as number) - 1)
  const lead = before.trim() === '' ? '' : `${statementsAt(before, outer)}${eol}${outer}`
  const tail = after.trim() === '' ? '' : eol + statementsAt(after, outer)
  source.replace(attempt.node, `${lead.trimStart()}${check}${tail}`)
}

/** `await limiter.consume(key)`, or `const result = await …`. */
function statementOf(call: NodePath): Statement | undefined {
  const awaited = call.parentPath
  if (!awaited?.isAwaitExpression()) return undefined
  const { parentPath } = awaited
  if (parentPath?.isExpressionStatement()) return parentPath
  if (!parentPath?.isVariableDeclarator() || parentPath.node.id.type !== 'Identifier')
    return undefined
  const declaration = parentPath.parentPath as NodePath<t.VariableDeclaration>
  return declaration.node.declarations.length === 1 ? declaration : undefined
}

function resultName(source: Source, statement: Statement, attempt: NodePath): string {
  const [declared] = statement.isVariableDeclaration() ? statement.node.declarations : []
  if (declared?.id.type === 'Identifier') return declared.id.name
  return source.newName(attempt.scope.block, 'decision')
}

/** @returns false if what the block declares has the name of something outside of it */
function claimNames(source: Source, block: NodePath, attempt: NodePath): boolean {
  return Object.keys(block.scope.bindings).every(
    (name) => !attempt.scope.hasBinding(name) && source.claim(attempt.scope.block, name),
  )
}

/** Whether it is the last statement of its function. */
function isLast(statement: NodePath): boolean {
  const block = statement.parentPath
  if (!block?.isBlockStatement() || !block.parentPath?.isFunction()) return false
  return block.node.body.at(-1) === statement.node
}
