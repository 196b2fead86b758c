import { METHODS } from 'node:http'
import { parse, pathToRegexp, type Token, TokenData } from 'path-to-regexp'
import { SluiceError } from './errors.ts'

interface Route<T> {
  readonly method: string | undefined
  readonly pattern: RegExp
  /** The more specific of two patterns compares greater, segment by segment. */
  readonly rank: string
  /** One form of several, by an optional group. */
  readonly optional: boolean
  readonly value: T
}

/**
 * What is set for which route: patterns of path-to-regexp, with a method before them or none. The
 * most specific match wins: a static segment before a parameter, that before a wildcard; then one
 * with a method before one without. As in Express, case and a trailing slash make no difference,
 * and GET covers HEAD.
 */
export class RouteTable<T> {
  private readonly routes: Route<T>[] = []

  /** @throws SluiceError if an entry can never match or is there twice */
  constructor(entries: readonly (readonly [route: string, value: T])[]) {
    const seen = new Map<string, string>()
    for (const [route, value] of entries) {
      const { method, pattern, forms } = read(route)
      const id = `${method} ${pattern.source.toLowerCase()}`
      const other = seen.get(id)
      if (other !== undefined) throw wrong(route, `a route other than '${other}'`)
      seen.set(id, route)
      const optional = forms.length > 1
      for (const form of forms) {
        const { regexp } = pathToRegexp(new TokenData(form))
        this.routes.push({ method, pattern: regexp, rank: rank(form), optional, value })
      }
    }
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

function read(route: string) {
  const [, method, path] = /^(?:(\S+) )?(\{*\/\S*)$/.exec(route) ?? []
  if (path === undefined) throw wrong(route, "a path from '/' on, with a method before it or none")
  if (method !== undefined && !METHODS.includes(method)) {
    throw wrong(route, `a method in capitals, such as GET or POST, not '${method}'`)
  }
  try {
    // As routers do: with the slash it would be required.
    const data = parse(path.replace(/(?<=.)\/+$/, ''))
    return { method, pattern: pathToRegexp(data).regexp, forms: formsOf(data.tokens) }
  } catch (error) {
    throw wrong(route, `a pattern of path-to-regexp (${(error as Error).message})`)
  }
}

/** The pattern with and without each of its optional groups: a path is as specific as what it uses. */
function formsOf([first, ...rest]: readonly Token[]): Token[][] {
  if (first === undefined) return [[]]
  const ends = formsOf(rest)
  if (first.type !== 'group') return ends.map((end) => [first, ...end])
  const groups = formsOf(first.tokens)
  return [...groups.flatMap((group) => ends.map((end) => [...group, ...end])), ...ends]
}

/** What is in a segment, the greater letter the more specific. */
const WILDCARD = 'A'
const PARAMETER = 'B'
const TEXT = 'C'

/** For each segment its letter, and how much text is in it. */
function rank(tokens: readonly Token[]): string {
  const marked = tokens.map((token) => {
    if (token.type === 'text') return token.value.replace(/[^/]/g, 't')
    return token.type === 'wildcard' ? 'w' : 'p'
  })
  const segments = marked.join('').split('/').slice(1)
  return segments.map((segment) => letterOf(segment) + amountOfText(segment)).join('')
}

function letterOf(segment: string): string {
  if (segment.includes('w')) return WILDCARD
  return segment.includes('p') ? PARAMETER : TEXT
}

/** As one character that compares as the number does. */
function amountOfText(segment: string): string {
  return String.fromCharCode(segment.replace(/[^t]/g, '').length)
}

function bySpecificity(one: Route<unknown>, other: Route<unknown>): number {
  if (one.rank !== other.rank) return one.rank < other.rank ? 1 : -1
  return looseness(one) - looseness(other) || Number(one.optional) - Number(other.optional)
}

/** HEAD stands before the GET that would cover it. */
function looseness({ method }: Route<unknown>): number {
  if (method === undefined) return 2
  return method === 'GET' ? 1 : 0
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
