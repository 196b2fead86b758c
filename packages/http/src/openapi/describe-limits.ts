import { SluiceError } from '@sluice/core'
import { checkObject } from '@sluice/core/internal'
import { statusOfBan } from '../refusal/refusal.ts'
import { Components, type Node } from './components.ts'
import { fieldsOf, type Limit, refusalOf, refusersOf, waitFieldsOf } from './published.ts'

/** What is read of an OpenAPI document, version 3.0 or newer. */
export interface OpenApiDocument {
  readonly openapi: string
  readonly paths?: object | undefined
  readonly components?: object | undefined
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query']

/**
 * Adds the refusals and the header fields of limits to a copy of an OpenAPI document.
 *
 * @param limitOf the limit of an operation, whose path may be either of two; undefined: it has none
 * @throws SluiceError if it is no such document
 */
export function describeLimits<D extends OpenApiDocument>(
  document: D,
  limitOf: (method: string, path: string, other: string) => Limit | undefined,
): D {
  const { openapi, paths = {} } = checkObject('document', document, EXPECTED) as D
  if (!/^3\./.test(String(openapi))) throw notOpenApi(openapi)
  const base = basePath(document)
  const components = new Components(document)
  const described = Object.entries(checkObject('document.paths', paths, 'paths')).map(
    ([path, given]) => {
      // A document may have extensions beside its paths.
      const item = path.startsWith('/') ? components.resolve(given) : undefined
      const operations = METHODS.flatMap((method) => {
        const operation = item?.[method] as Node | undefined
        const limit = operation && limitOf(method.toUpperCase(), path, base + path)
        return limit ? [[method, describeOperation(operation, limit, components)]] : []
      })
      return [path, operations.length > 0 ? { ...item, ...Object.fromEntries(operations) } : given]
    },
  )
  return { ...document, ...components.changed(), paths: Object.fromEntries(described) }
}

const EXPECTED = 'an OpenAPI document, version 3.0 or 3.1'

function notOpenApi(received: unknown): SluiceError {
  return new SluiceError({
    code: 'SLUICE_OPTION_VALUE',
    option: 'document.openapi',
    expected: "a version, such as '3.1.0'",
    received,
    fix: `Give ${EXPECTED}. Convert one of Swagger 2.0 first.`,
  })
}

/** The path of the first server, '' without one: paths of the document are relative to it. */
function basePath(document: object): string {
  const { servers } = document as { servers?: { url?: string }[] }
  const url = servers?.[0]?.url ?? ''
  return URL.canParse(url, 'http://host')
    ? new URL(url, 'http://host').pathname.replace(/\/$/, '')
    : ''
}

function describeOperation(operation: Node, limit: Limit, components: Components): Node {
  const { bans, statusCode } = limit
  const fields = fieldsOf(limit, components)
  const { policy, list, failure } = refusersOf(limit)
  const wait = policy || failure ? waitFieldsOf(limit, components) : {}
  const ofRefusal = policy ? { ...fields, ...wait } : fields
  const ofBan = policy && bans ? String(statusOfBan(statusCode)) : undefined
  const responses = Object.entries((operation.responses ?? {}) as Node).map(([status, given]) => {
    const response = components.resolve(given)
    const isRefusal = status === String(statusCode) || status === ofBan
    const wanted = isRefusal ? ofRefusal : /^[24]/.test(status) ? fields : {}
    const known = Object.keys(response?.headers ?? {}).map((name) => name.toLowerCase())
    const missing = Object.entries(wanted).filter(([name]) => !known.includes(name.toLowerCase()))
    if (response === undefined || missing.length === 0) return [status, given]
    const headers = { ...(response.headers as object), ...Object.fromEntries(missing) }
    return [status, { ...response, headers }]
  })
  const all = Object.fromEntries(responses)
  if (policy) all[statusCode] ??= refusalOf(limit, ofRefusal, components)
  if (ofBan) all[ofBan] ??= refusalOf(limit, ofRefusal, components, 429)
  if (list) all[403] ??= refusalOf(limit, fields, components, 403)
  if (failure) all[503] ??= refusalOf(limit, wait, components, 503)
  return { ...operation, responses: all }
}
