// Statements of a step in Lua.

import { atom, condition, expression, OutsideSubset } from './expressions.mjs'

/**
 * @param nodes statements; a return is the last thing that a branch does
 * @param give the Lua for what is returned, from its text; undefined: nothing is
 * @returns lines
 */
export function statements(nodes, scope, give) {
  const lines = []
  for (const [i, node] of nodes.entries()) {
    if (node.type === 'IfStatement' && returns(node)) {
      const { test, consequent, alternate } = node
      const [yes, no, rest] = [listOf(consequent), listOf(alternate), nodes.slice(i + 1)]
      if (!ends(yes) && !ends(no))
        throw new OutsideSubset(node, 'a return must end its branch: Lua has none in a section')
      // The statements that follow belong to the branch that does not return.
      const branches = ends(yes) ? [yes, [...no, ...rest]] : [[...yes, ...rest], no]
      return [...lines, ...branch(test, ...branches, scope, give)]
    }
    const translate = STATEMENTS[node.type]
    if (translate === undefined) throw new OutsideSubset(node, `${node.type} has no Lua`)
    lines.push(...translate(node, scope, give))
  }
  return lines
}

const STATEMENTS = {
  BlockStatement: ({ body }, scope, give) => ['do', ...inner(body, scope, give), 'end'],

  VariableDeclaration: ({ declarations }, scope) =>
    declarations.map((each) => {
      if (each.init === null || each.id.type !== 'Identifier')
        throw new OutsideSubset(each, 'declare one name with a number: Lua would give it nil')
      const { text, type } = expression(each.init, scope)
      return `local ${scope.declare(each.id, atom(each.id.name, type))} = ${text}`
    }),

  ExpressionStatement({ expression: node }, scope) {
    if (node.type === 'CallExpression') {
      const called = scope.statements(node)
      return ['do', ...statements(called.body, called.scope).map((line) => `  ${line}`), 'end']
    }
    if (node.type !== 'AssignmentExpression')
      throw new OutsideSubset(node, 'a statement assigns, or asks by if: write x += 1 for x++')
    const { left, operator, right } = node
    const target = scope.target(left)
    const sign = operator.slice(0, -1)
    const value =
      sign === ''
        ? expression(right, scope)
        : expression({ ...node, type: 'BinaryExpression', operator: sign }, scope)
    if (value.type !== target.type)
      throw new OutsideSubset(node, `${target.text} is a ${target.type}, ${value.text} is not`)
    return [`${target.text} = ${value.text}`]
  },

  IfStatement: ({ test, consequent, alternate }, scope, give) =>
    branch(test, listOf(consequent), listOf(alternate), scope, give),

  ReturnStatement(node, scope, give) {
    if ((node.argument === null) !== (give === undefined))
      throw new OutsideSubset(node, 'it returns what its section does not')
    return give === undefined ? [] : [give(expression(node.argument, scope).text)]
  },
}

function branch(test, yes, no, scope, give) {
  const lines = [`if ${condition(test, scope)} then`, ...inner(yes, scope, give)]
  const otherwise = inner(no, scope, give)
  const [first = '', second] = otherwise
  // An if alone in an else is an elseif.
  if (first.startsWith('  if ') && otherwise.indexOf('  end') === otherwise.length - 1)
    return [...lines, `else${first.slice(2)}`, ...otherwise.slice(1).map((line) => line.slice(2))]
  if (first !== '' || second !== undefined) lines.push('else', ...otherwise)
  return [...lines, 'end']
}

function inner(nodes, scope, give) {
  return statements(nodes, scope.inner(), give).map((line) => `  ${line}`)
}

function listOf(node) {
  if (!node) return []
  return node.type === 'BlockStatement' ? node.body : [node]
}

function ends(nodes) {
  const last = nodes.at(-1)
  if (last?.type === 'IfStatement')
    return ends(listOf(last.consequent)) && ends(listOf(last.alternate))
  return last?.type === 'ReturnStatement' || (last?.type === 'BlockStatement' && ends(last.body))
}

function returns(node) {
  if (node?.type === 'ReturnStatement') return true
  if (node?.type === 'IfStatement') return returns(node.consequent) || returns(node.alternate)
  return node?.type === 'BlockStatement' && node.body.some(returns)
}
