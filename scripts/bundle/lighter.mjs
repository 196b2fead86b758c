// What published code does not need goes when it is bundled.

import { parseAst } from 'rollup/parseAst'

/** Properties of tables that only the documentation reads, by the end of the table's path. */
const PROSE = {
  'options/table.ts': ['description', 'see', 'unset'],
  'options/types.ts': ['form', 'range', 'typescript'],
  'options/unit.ts': ['form', 'typescript'],
  'errors/codes.ts': ['meaning', 'cause'],
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

/** Lua without indentation and without lines of comments. */
export function withoutComments(id, code) {
  if (!id.endsWith('.lua.ts')) return code
  const edits = []
  visit(parseAst(code), (node) => {
    if (node.type !== 'TemplateElement') return
    const text = code.slice(node.start, node.end)
    edits.push([node.start, node.end, text.replace(/\n[ \t]+/g, '\n').replace(/\n--.*(?=\n)/g, '')])
  })
  return edited(code, edits)
}

/** What a bundler can't know to be without effect. */
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
      edits.push([init.start, init.start, '/* @__PURE__ */ (() => ('])
      edits.push([init.end, init.end, '))()'])
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
