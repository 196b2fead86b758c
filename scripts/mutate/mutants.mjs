// The breaks of a source: small changes, each of which a test should notice.

import { parse } from '@babel/parser'

const OPERATORS = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '??': '&&',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '+=': '-=',
  '-=': '+=',
}

/** The replacements of a node, the most telling one first. `text` gives the source of a node. */
const BREAKS = {
  BinaryExpression: operator,
  LogicalExpression: operator,
  AssignmentExpression: ({ left, right, operator }, text) =>
    operator in OPERATORS ? `${text(left)} ${OPERATORS[operator]} ${text(right)}` : undefined,
  IfStatement: ({ test }, text) => ({ of: test, by: `!(${text(test)})` }),
  ConditionalExpression: ({ test }, text) => ({ of: test, by: `!(${text(test)})` }),
  UnaryExpression: ({ operator, argument }, text) =>
    operator === '!' ? text(argument) : undefined,
  BooleanLiteral: ({ value }) => `${!value}`,
  NumericLiteral: ({ value }) => `${value + 1}`,
  CallExpression: ({ callee }, text) => {
    const name = text(callee)
    if (name === 'Math.min') return { of: callee, by: 'Math.max' }
    if (name === 'Math.max') return { of: callee, by: 'Math.min' }
    return undefined
  },
  ExpressionStatement: ({ expression }, text) =>
    /^(super|describe|it|test)\b/.test(text(expression)) ? undefined : ';',
  ReturnStatement: ({ argument }) => (argument ? { of: argument, by: 'undefined' } : undefined),
}
const ORDER = Object.keys(BREAKS)

function operator({ left, right, operator: given }, text) {
  const by = OPERATORS[given]
  return by && `(${text(left)} ${by} ${text(right)})`
}

/**
 * @param source TypeScript
 * @param each every break of a line, in place of the one that says most
 * @returns the line of each, what stands there, by what it is replaced, and the whole text that results
 */
export function mutantsOf(source, each = false) {
  const text = ({ start, end }) => source.slice(start, end)
  const found = []
  visit(
    parse(source, { sourceType: 'module', plugins: ['typescript', 'decorators'] }).program,
    (node) => {
      const change = BREAKS[node.type]?.(node, text)
      if (change === undefined) return
      const { of, by } = typeof change === 'string' ? { of: node, by: change } : change
      const broken = source.slice(0, of.start) + by + source.slice(of.end)
      found.push({ line: of.loc.start.line, type: node.type, was: text(of), by, broken })
    },
  )
  found.sort(
    (one, other) => one.line - other.line || ORDER.indexOf(one.type) - ORDER.indexOf(other.type),
  )
  return each ? found : found.filter(({ line }, i) => line !== found[i - 1]?.line)
}

/** Calls `see` with every node that does something: not with types, imports and names of properties. */
function visit(node, see) {
  if (Array.isArray(node)) for (const one of node) visit(one, see)
  if (typeof node?.type !== 'string') return
  const isType = /^TS(?!(As|NonNull|Satisfies|Instantiation)Expression)/.test(node.type)
  if (isType || node.type === 'ImportDeclaration') return
  see(node)
  for (const [name, part] of Object.entries(node))
    if (typeof part === 'object' && name !== 'loc' && name !== 'extra' && !name.endsWith('omments'))
      visit(part, see)
}
