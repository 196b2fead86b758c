// Reads the comments of a TypeScript source, by its syntax tree.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from '@babel/parser'
import { root } from '../../workspace.mjs'

/**
 * The fields of each interface that a source exports, in their order.
 *
 * @param file path in the repository
 * @returns {Record<string, { name: string, type: string, comment: string }[]>}
 */
export function interfacesOf(file) {
  const { text, declarations } = read(file)
  const interfaces = declarations.filter(({ type }) => type === 'TSInterfaceDeclaration')
  return Object.fromEntries(
    interfaces.map(({ id, body }) => [
      id.name,
      body.body.map((field) => {
        const { start, end } = field.typeAnnotation.typeAnnotation
        const type = text.slice(start, end).replace(/\s+/g, ' ').replaceAll('readonly ', '')
        return { name: field.key.name, type, comment: commentOf(field, file) }
      }),
    ]),
  )
}

/**
 * The comments of the properties of an object that a source exports.
 *
 * @returns {Record<string, string>}
 */
export function propertyComments(file, name) {
  const declared = read(file).declarations.flatMap(({ declarations = [] }) => declarations)
  const { init } = declared.find(({ id }) => id.name === name)
  return Object.fromEntries(
    init.expression.properties.map((property) => [property.key.name, commentOf(property, file)]),
  )
}

function read(file) {
  const text = readFileSync(join(root, file), 'utf8')
  const { program } = parse(text, { sourceType: 'module', plugins: ['typescript'] })
  return { text, declarations: program.body.flatMap(({ declaration }) => declaration ?? []) }
}

/** The words of a declaration's comment in one line; the entries of a list are separated. */
function commentOf({ key, leadingComments }, file) {
  const comment = leadingComments?.at(-1)?.value
  if (!comment?.startsWith('*')) throw new Error(`${file}: ${key.name} has no comment`)
  return comment
    .replace(/^\s*\*+ ?/gm, '')
    .trim()
    .replace(/^- /, '')
    .replace(/\n- /g, '<br>')
    .replace(/\s+/g, ' ')
}
