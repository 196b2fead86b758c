// Expressions of a step in Lua: numbers, and what compares them. Both languages have doubles.

/** How tightly Lua's operators bind. */
const [OR, AND, COMPARISON, SUM, PRODUCT, SIGN, ATOM] = [1, 2, 3, 4, 5, 6, 7]

/** Operators on two numbers: Lua's, how tightly it binds, and the type of what comes of it. */
const OPERATORS = {
  '+': ['+', SUM, 'number'],
  '-': ['-', SUM, 'number'],
  '*': ['*', PRODUCT, 'number'],
  '/': ['/', PRODUCT, 'number'],
  '===': ['==', COMPARISON, 'boolean'],
  '!==': ['~=', COMPARISON, 'boolean'],
  '<': ['<', COMPARISON, 'boolean'],
  '<=': ['<=', COMPARISON, 'boolean'],
  '>': ['>', COMPARISON, 'boolean'],
  '>=': ['>=', COMPARISON, 'boolean'],
}
const INSTEAD = {
  '%': 'Lua rounds it down, JavaScript towards 0: write x - Math.floor(x / y) * y',
  '==': 'write ===',
  '!=': 'write !==',
}
const MATH = ['ceil', 'floor', 'max', 'min']

/** Something that a step says in a way which the translator does not know. */
export class OutsideSubset extends Error {
  /** @param node of the syntax tree, for the number of its line */
  constructor({ loc }, said) {
    super(said)
    this.line = loc.start.line
  }
}

/** An expression that is a name or a number. */
export function atom(text, type = 'number') {
  return { text, level: ATOM, type }
}

/**
 * @param scope what names mean: `lookUp` gives an expression, 'state' or 'constants'; `member` that of a field of
 *   these; `helper` a function of the same file, `shared` whether Lua has a function
 * @returns the text in Lua, how tightly it binds, and its type
 */
export function expression(node, scope) {
  const translate = EXPRESSIONS[node.type]
  if (translate === undefined)
    throw new OutsideSubset(
      node,
      `${node.type} has no Lua: a step has numbers and conditions alone`,
    )
  return translate(node, scope)
}

/** An expression of one type, in parentheses where it binds less than `level`. */
function part(node, scope, type, level) {
  const { text, level: own, type: is } = expression(node, scope)
  if (is !== type) throw new OutsideSubset(node, `${text} is a ${is}, not a ${type}${TRUTH[is]}`)
  return own < level ? `(${text})` : text
}
const TRUTH = {
  number: ': 0 is true in Lua, so write x !== 0',
  boolean: ': write an if',
}

export const condition = (node, scope) => part(node, scope, 'boolean', OR)

const EXPRESSIONS = {
  NumericLiteral: ({ value }) => atom(String(value)),
  BooleanLiteral: ({ value }) => atom(String(value), 'boolean'),

  Identifier(node, scope) {
    const known = scope.lookUp(node)
    if (typeof known === 'string')
      throw new OutsideSubset(node, `${node.name} is no number: use one of its fields`)
    return known
  },

  MemberExpression(node, scope) {
    if (!node.computed) return scope.member(node)
    const { object, property } = node
    const { items } = expression(object, scope)
    if (items === undefined) throw new OutsideSubset(node, 'it is no list of constants')
    // Lua counts from 1.
    const isBefore = property.operator === '-' && property.right.value === 1
    const place = part(isBefore ? property.left : property, scope, 'number', isBefore ? OR : SUM)
    return atom(`({ ${items.join(', ')} })[${place}${isBefore ? '' : ' + 1'}]`)
  },

  TSAsExpression: ({ expression: node }, scope) => expression(node, scope),

  UnaryExpression(node, scope) {
    const { operator, argument } = node
    if (operator === '!')
      return { text: `not ${part(argument, scope, 'boolean', SIGN)}`, level: SIGN, type: 'boolean' }
    if (operator !== '-') throw new OutsideSubset(node, `${operator} has no Lua`)
    // Two minus signs would begin a comment.
    return { text: `-${part(argument, scope, 'number', ATOM)}`, level: SIGN, type: 'number' }
  },

  BinaryExpression(node, scope) {
    const { operator, left, right } = node
    const modulo = moduloOf(node, scope)
    if (modulo !== undefined) return modulo
    if (!Object.hasOwn(OPERATORS, operator)) {
      const instead = INSTEAD[operator] ?? 'a step has numbers and conditions alone'
      throw new OutsideSubset(node, `${operator} has no Lua: ${instead}`)
    }
    const [lua, level, type] = OPERATORS[operator]
    const operands = [left, right].map((each, i) => part(each, scope, 'number', level + i))
    return { text: operands.join(` ${lua} `), level, type }
  },

  LogicalExpression(node, scope) {
    const { operator, left, right } = node
    if (operator === '??') throw new OutsideSubset(node, '?? has no Lua: every name has a number')
    const level = operator === '||' ? OR : AND
    const operands = [left, right].map((each) => part(each, scope, 'boolean', level))
    return { text: operands.join(level === OR ? ' or ' : ' and '), level, type: 'boolean' }
  },

  /** Numbers are true in Lua. */
  ConditionalExpression({ test, consequent, alternate }, scope) {
    const [asked, first] = [
      part(test, scope, 'boolean', AND),
      part(consequent, scope, 'number', AND),
    ]
    return {
      text: `${asked} and ${first} or ${part(alternate, scope, 'number', OR)}`,
      level: OR,
      type: 'number',
    }
  },

  CallExpression(node, scope) {
    const { callee, arguments: given } = node
    if (callee.type === 'MemberExpression' && callee.object.name === 'Math')
      return math(node, callee.property.name, scope)
    const helper = scope.helper(node)
    if (helper !== undefined) return expression(helper.returned, helper.scope)
    if (!scope.shared(callee.name))
      throw new OutsideSubset(node, 'it calls a function that Lua does not have: write it here')
    return atom(`${callee.name}(${numbers(given, scope)})`)
  },
}

function math(node, name, scope) {
  const { arguments: given } = node
  if (!MATH.includes(name))
    throw new OutsideSubset(node, `Math.${name} has no Lua: there are ${MATH.join(', ')}`)
  const texts = given.map((each) => part(each, scope, 'number', OR))
  const inline = name === 'floor' ? floor(given[0], scope) : name !== 'ceil' && extreme(name, texts)
  return inline || atom(`math.${name}(${texts.join(', ')})`)
}

// Lua takes longer to call a function than to compare, or for a remainder, which it rounds down.

function extreme(name, texts) {
  if (texts.length !== 2 || !texts.every(isWord)) return undefined
  const [one, other] = texts
  const text = `${one} ${name === 'max' ? '>' : '<'} ${other} and ${one} or ${other}`
  return { text, level: OR, type: 'number' }
}

function floor(node, scope) {
  if (node.type === 'Identifier') {
    const { text } = expression(node, scope)
    if (isWord(text)) return { text: `${text} - ${text} % 1`, level: SUM, type: 'number' }
  }
  if (node.type !== 'BinaryExpression' || node.operator !== '/') return undefined
  const [x, y] = [node.left, node.right].map((each) => part(each, scope, 'number', OR))
  if (![x, y].every(isWord) || /^\d/.test(x)) return undefined
  return { text: `(${x} - ${x} % ${y}) / ${y}`, level: PRODUCT, type: 'number' }
}

function isWord(text) {
  return /^\w+$/.test(text)
}

/** x - Math.floor(x / y) * y */
function moduloOf({ operator, left, right }, scope) {
  if (operator !== '-' || !isName(left) || right.operator !== '*') return undefined
  const { left: call, right: y } = right
  const [quotient] = call.arguments ?? []
  if (call.callee?.property?.name !== 'floor' || quotient?.operator !== '/') return undefined
  const same = sameName(left, quotient.left) && sameName(y, quotient.right)
  if (!same) return undefined
  const text = [left, y].map((each) => part(each, scope, 'number', PRODUCT + 1)).join(' % ')
  return { text, level: PRODUCT, type: 'number' }
}

function isName({ type, object }) {
  return type === 'Identifier' || (type === 'MemberExpression' && object.type === 'Identifier')
}

function sameName(one, other) {
  if (!isName(one) || one.type !== other.type) return false
  if (one.type === 'Identifier') return one.name === other.name
  return one.object.name === other.object.name && one.property.name === other.property.name
}

function numbers(given, scope) {
  return given.map((each) => part(each, scope, 'number', OR)).join(', ')
}
