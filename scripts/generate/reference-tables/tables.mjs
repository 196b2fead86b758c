// The tables of the reference, by the names that the documents give to their places.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { tsImport } from 'tsx/esm/api'
import { root } from '../../workspace.mjs'
import { addressOf } from '../option-table/page.mjs'
import { interfacesOf, propertyComments } from './comments.mjs'

const otel = (module) => tsImport(`../../../packages/otel/src/${module}`, import.meta.url)
const { INSTRUMENTS } = await otel('instruments.ts')
const { ATTRIBUTES } = await otel('attributes.ts')

const events = interfacesOf('packages/core/src/events.ts')
const interfaces = {
  ...events,
  ...interfacesOf('packages/core/src/limiter/decision.ts'),
  ...interfacesOf('packages/http/src/usage/usage.ts'),
}

/** @param place `fields of Decision`, `metrics`, `attributes of metrics`, `comparison` */
export function tableAt(place) {
  if (place === 'metrics') return metrics()
  if (place === 'attributes of metrics') return attributes()
  if (place === 'comparison') return comparison()
  const name = place.replace('fields of ', '')
  const fields = interfaces[name]
  if (fields === undefined) throw new Error(`there is no table of ${place}`)
  // Subscribers have the types of events in their editor, and the meaning says the values.
  if (name in events)
    return table(
      ['field', 'meaning'],
      fields.map(({ name, comment }) => [code(name), linked(comment)]),
    )
  return table(
    ['field', 'type', 'meaning'],
    fields.map(({ name, type, comment }) => [code(name), code(type), linked(comment)]),
  )
}

function metrics() {
  return table(
    ['metric', 'type, unit', 'what it counts', 'attributes'],
    Object.values(INSTRUMENTS).map(({ name, type, unit, description, attributes: own }) => [
      code(name),
      unit === undefined ? type : `${type}, ${code(unit)}`,
      description,
      own.map((attribute) => code(ATTRIBUTES[attribute])).join(', '),
    ]),
  )
}

function attributes() {
  const comments = propertyComments('packages/otel/src/attributes.ts', 'ATTRIBUTES')
  return table(
    ['attribute', 'value'],
    Object.entries(ATTRIBUTES).map(([key, name]) => [code(name), linked(comments[key])]),
  )
}

/** The table of the README, whose answers a test finds. */
function comparison() {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  return /^<!-- comparison -->\n([\s\S]*?)\n<!-- \/comparison -->$/m.exec(readme)[1]
}

const code = (text) => `\`${text}\``

/** Where a comment names an option, with a link to it. The `name` of a limiter is the second one there. */
function linked(comment) {
  return comment.replace(
    /\boption `(\w+)`/g,
    (_, name) => `option [${code(name)}](${addressOf(name)})`,
  )
}

function table(head, rows) {
  const lines = [head, head.map(() => '---'), ...rows.map((row) => row.map(escaped))]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

const escaped = (cell) => cell.replaceAll('|', '\\|')
