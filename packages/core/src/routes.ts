import { METHODS } from 'node:http'
import { parse, pathToRegexp, type Token } from 'path-to-regexp'
import { SluiceError } from './errors.ts'

interface Route<T> {
  method: string | undefined
  pattern: RegExp
  /** The more specific of two patterns compares greater, segment by segment. */
  rank: string
  value: T
}

/**
 * What is set for which route: patterns of path-to-regexp, with a method before them or none. The
 * most specific match wins: a static segment before a parameter, that before a wildcard; then one
 * with a method before one without. As in Express, case and a trailing slash make no difference,
 * and GET covers HEAD.
 */
export class RouteTable<T> {
  private readonly routes: Route<T>[]

  /** @throws SluiceError if an entry can never match or is there twice */
  constructor(entries: readonly (readonly [route: string, value: T])[]) {
    const seen = new Map<string, string>()
    this.routes = entries.map(([route, value]) => {
      const compiled = compile(route, value)
      const same = `${compiled.method} ${compiled.pattern.source}`
      const other = seen.get(same)
      if (other !== undefined) throw wrong(route, `a route other than '${other}'`)
      seen.set(same, route)
      return compiled
    })
    this.routes.sort(bySpecificity)
  }

  match(method: string, path: string): { readonly value: T } | undefined {
    for (const route of this.routes) {
      const only = route.method
      const fits = only === undefined || only === method || (only === 'GET' && method === 'HEAD')
      if (fits && route.pattern.test(path)) return route
    }
    return undefined
  }
}

function compile<T>(route: string, value: T): Route<T> {
  const [, method, path] = /^(?:(\S+) )?(\/\S*)$/.exec(route) ?? []
  if (path === undefined) throw wrong(route, "a path from '/' on, with a method before it or none")
  if (method !== undefined && !METHODS.includes(method)) {
    throw wrong(route, `a method in capitals, such as GET or POST, not '${method}'`)
  }
  try {
    const { regexp } = pathToRegexp(path)
    return { method, pattern: regexp, rank: rank(parse(path).tokens), value }
  } catch (error) {
    throw wrong(route, `a pattern of path-to-regexp (${(error as Error).message})`)
  }
}

/** A letter for each segment, the greater the more specific: a wildcard, an optional group, the end, a parameter, text. */
function rank(tokens: readonly Token[]): string {
  let letters = ''
  for (const token of tokens) {
    if (token.type === 'text') letters += token.value.replace(/[^/]+/g, 'E').replaceAll('/', '')
    else letters += token.type === 'param' ? 'D' : token.type === 'group' ? 'B' : 'A'
  }
  return `${letters}C`
}

function bySpecificity(one: Route<unknown>, other: Route<unknown>): number {
  if (one.rank !== other.rank) return one.rank < other.rank ? 1 : -1
  return Number(one.method === undefined) - Number(other.method === undefined)
}

function wrong(route: string, expected: string): SluiceError {
  return new SluiceError({
    code: 'SLUICE_ROUTE',
    option: `routes['${route}']`,
    expected,
    received: route,
    fix: "Write it as the framework's router would: 'POST /login', '/search/:id', '/files/*path'.",
  })
}
