// The JSON Schema of a file with limits, which `sluice policy apply` reads, from the table of options.

import { core } from './core.mjs'
import { OPTIONS } from './option-table/described.mjs'

const { SETTING_NAMES } = await core('stores/documents/policy-document.ts')
const ROWS = { ...OPTIONS.concurrency, ...OPTIONS.policy }

export const limitsSchema = () => [
  ['packages/cli/limits.schema.json', `${JSON.stringify(schema(), null, 2)}\n`],
]

function schema() {
  const settings = SETTING_NAMES.map((name) => {
    const { description, type } = ROWS[name]
    if (type.schema === undefined) throw new Error(`${name} has no schema`)
    return [name, { description, ...type.schema }]
  })
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Limits of live policies, for sluice policy apply',
    type: 'object',
    required: ['policies'],
    additionalProperties: false,
    properties: {
      $schema: { type: 'string' },
      policies: {
        description:
          'The settings, by the names of the policies, as sluice policy list shows them. A policy that is not here has the limit of its code.',
        type: 'object',
        additionalProperties: { $ref: '#/definitions/settings' },
      },
    },
    definitions: {
      settings: {
        type: 'object',
        additionalProperties: false,
        properties: Object.fromEntries(settings),
        not: {
          properties: { dryRun: { const: true }, enforce: {} },
          required: ['dryRun', 'enforce'],
        },
      },
    },
  }
}
