// Private members of classes get short names in published code. A minifier keeps the names of properties,
// since it can't know who else reads them. Of a member that is private in TypeScript it is known.

import { parse } from '@babel/parser'

/**
 * A class that extends another one keeps its names, since the short ones might be those of the other.
 *
 * @param source TypeScript
 */
export function withShortPrivates(source) {
  const { program } = parse(source, { sourceType: 'module', plugins: ['typescript'] })
  const edits = classesIn(program).flatMap(renamed)
  return edits
    .toSorted(([one], [other]) => other.start - one.start)
    .reduce((text, [{ start, end }, name]) => text.slice(0, start) + name + text.slice(end), source)
}

function classesIn(node) {
  const inside = partsOf(node).flatMap(classesIn)
  return isClass(node) && node.superClass === null ? [node, ...inside] : inside
}

/** Each place where a private member is named by `this`, with its short name. */
function renamed(node) {
  const members = node.body.body.filter(
    ({ accessibility, kind, static: isStatic }) =>
      accessibility === 'private' && kind !== 'constructor' && !isStatic,
  )
  const names = [...new Set(members.map(({ key }) => key.name))]
  const short = new Map(names.map((name, i) => [name, `$${i.toString(36)}`]))
  const uses = members.map(({ key }) => [key, short.get(key.name)])
  for (const part of node.body.body.flatMap(partsOf)) {
    if (isOfAnother(part)) continue
    for (const { type, object, property, computed, id, init } of ownParts(part)) {
      if (type === 'MemberExpression' && isThis(object) && !computed && short.has(property.name))
        uses.push([property, short.get(property.name)])
      if (type !== 'VariableDeclarator' || id.type !== 'ObjectPattern' || !isThis(init)) continue
      for (const { key, shorthand } of id.properties)
        if (short.has(key?.name))
          uses.push([key, short.get(key.name) + (shorthand ? `: ${key.name}` : '')])
    }
  }
  return uses
}

/** The node and what is in it, as far as `this` is the same. */
function ownParts(node) {
  const inside = partsOf(node).filter((part) => !isOfAnother(part))
  return [node, ...inside.flatMap(ownParts)]
}

const isThis = (node) => node?.type === 'ThisExpression'
const isClass = ({ type }) => /^Class(Declaration|Expression)$/.test(type)
/** Whether `this` is another one in it. */
const isOfAnother = (node) =>
  isClass(node) || /^(Function(Declaration|Expression)|ObjectMethod)$/.test(node.type)

function partsOf(node) {
  const parts = Object.values(node).flat()
  return parts.filter((part) => /^(?!Comment)[A-Z]/.test(part?.type))
}
