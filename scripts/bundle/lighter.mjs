// Removes code that published packages do not need, when they are bundled.

import { parse } from '@babel/parser'
import { parseAst } from 'rollup/parseAst'

/** Properties of tables that only the documentation reads, by the end of the table's path. */
const PROSE = {
  'options/types.ts': ['form', 'range', 'typescript', 'schema'],
  'options/unit.ts': ['form', 'typescript'],
}

/** The tables without what only the documentation reads. */
export function withoutProse(id, code) {
  const [, names] = Object.entries(PROSE).find(([table]) => id.endsWith(table)) ?? []
  if (names === undefined) return code
  const edits = []
  visit(parseAst(code), (node) => {
    if (node.type !== 'ObjectExpression') return
    for (const [i, property] of node.properties.entries())
      if (property.type === 'Property' && names.includes(property.key.name))
        edits.push([property.start, node.properties[i + 1]?.start ?? property.end, ''])
  })
  return edited(code, edits)
}

/**
 * `on-headers` without Node's http, which takes as long to load as half of core. It asks it whether responses have
 * `appendHeader`, which they have since Node 18.3.
 */
export function withoutHttp(id, code) {
  if (!id.endsWith('/on-headers/index.js')) return code
  const asked = 'typeof http.ServerResponse.prototype.appendHeader'
  const left = code.replace("require('http')", 'undefined').replace(asked, "'function'")
  if (/require\(|http\./.test(left.replace(/^\s*(\*|\/\/).*$/gm, '')))
    throw new Error('on-headers needs more of http than before')
  return left
}

/** Compiled code without comments, except those that bundlers read: the declarations have them too. */
export function withoutComments(code) {
  const comments = parse(code, { sourceType: 'module' }).comments ?? []
  const unread = comments.filter(({ value }) => !/^\s*([@#]__|@vite|webpack)/.test(value))
  return edited(
    code,
    unread.map(({ start, end }) => {
      const from = code.lastIndexOf('\n', start) + 1
      const isAlone = code.slice(from, start).trim() === '' && code[end] === '\n'
      return isAlone ? [from, end + 1, ''] : [start, end, '']
    }),
  )
}

/** Compiled code without the declarations of fields that the constructor of their class sets anyway. */
export function withoutSetFields(code) {
  const edits = []
  visit(parseAst(code), ({ type, body }) => {
    if (type !== 'ClassBody') return
    const { value } = body.find(({ kind }) => kind === 'constructor') ?? {}
    const statements = value?.body.body ?? []
    const set = new Set(
      statements.flatMap(({ expression }) =>
        expression?.type === 'AssignmentExpression' &&
        expression.left.object?.type === 'ThisExpression'
          ? [expression.left.property.name]
          : [],
      ),
    )
    for (const { type, key, value, static: isStatic, computed, start, end } of body)
      if (
        type === 'PropertyDefinition' &&
        // One that is private in JavaScript has to be declared.
        key.type === 'Identifier' &&
        !value &&
        !isStatic &&
        !computed &&
        set.has(key.name)
      )
        edits.push([code.lastIndexOf('\n', start), end, ''])
  })
  return edited(code, edits)
}

/** Compiled code that is indented by tabs, half the bytes, without empty lines. Text in templates stays. */
export function withTabs(code) {
  const texts = []
  visit(parseAst(code), ({ type, start, end }) => {
    if (type === 'TemplateElement') texts.push([start, end])
  })
  const isText = (at) => texts.some(([start, end]) => start < at && at <= end)
  return code.replace(/^(?:(?: {2})+|\n)/gm, (spaces, at) =>
    isText(at) ? spaces : '\t'.repeat(spaces.length / 2),
  )
}

/** Lua without indentation, lines of comments, and the spaces around most of its signs. */
export function withShortLua(id, code) {
  if (!/\.lua(\.generated)?\.ts$/.test(id)) return code
  const edits = []
  visit(parseAst(code), (node) => {
    if (node.type !== 'TemplateLiteral') return
    // A text of Lua may begin in one part of the template and end in another.
    let isText = false
    for (const { start, end } of node.quasis) {
      const parts = code.slice(start, end).replace(LINES, '\n').split("'")
      const shorter = parts.map((part, i) => {
        return isText === (i % 2 === 0) ? part : part.replace(SPACED, '$1').replace(BETWEEN, '$1')
      })
      if (parts.length % 2 === 0) isText = !isText
      edits.push([start, end, shorter.join("'")])
    }
  })
  return edited(code, edits)
}

/** Indentation, and lines of comments with it. */
const LINES = /\n[ \t]*(--.*\n[ \t]*)*/g
/** Signs with spaces. */
const SPACED = / ?([=~<>]=|[=<>+*/%,(){}]) ?/g
/** Two minus signs would begin a comment, and two points behind a number belong to it. */
const BETWEEN = /(?<=[A-Za-z_)\]]) (-|\.\.) (?=[A-Za-z_(])/g

const PURE = '/* @__PURE__ */'
/** Code without effect, which a bundler can't know. */
const UNKNOWN = /^(Call|New|Member|TaggedTemplate)Expression$|^SpreadElement$/

/**
 * Makes the value of each constant of the module something that bundlers drop where nothing uses the
 * constant. `sideEffects: false` says so of whole files alone, and a chunk has many modules.
 */
export function withPureValues(code) {
  const edits = []
  for (const statement of parseAst(code).body) {
    const { type, declarations } = statement.declaration ?? statement
    if (type !== 'VariableDeclaration') continue
    for (const { init } of declarations.filter(({ init }) => init && isUnknown(init))) {
      // A call whose arguments do nothing needs only the comment, and may have it.
      const isCall = /^(Call|New)Expression$/.test(init.type) && !init.arguments.some(isUnknown)
      const isMarked = isCall && code.slice(0, init.start).endsWith(`${PURE} `)
      if (!isMarked) edits.push([init.start, init.start, isCall ? `${PURE} ` : `${PURE} (() => (`])
      if (!isCall) edits.push([init.end, init.end, '))()'])
    }
  }
  return edited(code, edits)
}

function isUnknown(value) {
  let found = false
  visit(value, ({ type, expressions = [] }) => {
    if (/Function|Class/.test(type)) return false
    found ||= UNKNOWN.test(type) || (type === 'TemplateLiteral' && expressions.length > 0)
    return !found
  })
  return found
}

/** Calls `see` with every node; the parts of one for which it returns false are left out. */
function visit(node, see) {
  if (Array.isArray(node)) for (const each of node) visit(each, see)
  else if (typeof node?.type === 'string' && see(node) !== false)
    for (const part of Object.values(node)) if (typeof part === 'object') visit(part, see)
}

/** @param edits from, to, and what comes there instead */
function edited(code, edits) {
  const ordered = edits.toSorted(([one], [other]) => other - one)
  return ordered.reduce((text, [from, to, put]) => text.slice(0, from) + put + text.slice(to), code)
}
