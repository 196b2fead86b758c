import { SluiceError } from '@sluice/core'
import { methods, warnOnce } from '@sluice/core/internal'
import { parse, pathToRegexp, type Token, TokenData } from 'path-to-regexp'
import type { Routing } from '../request-adapter.ts'

type Entry<T> = ReturnType<typeof read> & { readonly value: T; hasMatched: boolean }
type Route<T> = ReturnType<typeof compile<T>>[number]

/** The default of most routers. */
const LOOSE: Routing = { caseSensitive: false, strict: false }

/**
 * The options of routes, by patterns of path-to-regexp, with or without a method before them. The
 * most specific match wins: a static segment before a parameter, that before a wildcard; then one
 * with a method before one without. GET covers HEAD.
 */
export class RouteTable<T> {
  readonly #entries: readonly Entry<T>[]
  /** Compiled when first needed, for each way of comparing paths. */
  readonly #compiled = new Map<string, readonly Route<T>[]>()
  /** The entries that may turn out to match nothing, by their last segment. */
  readonly #doubtful = new Map<string, Entry<T>>()

  /** @throws SluiceError if an entry can never match or is there twice */
  constructor(entries: readonly (readonly [route: string, value: T])[]) {
    const seen = new Map<string, string>()
    this.#entries = entries.map(([route, value]) => {
      const entry = read(route)
      const other = seen.get(entry.id)
      if (other !== undefined) throw wrong(route, `a route other than '${other}'`)
      seen.set(entry.id, route)
      return { ...entry, value, hasMatched: false }
    })
    for (const entry of this.#entries) this.#doubtful.set(lastSegment(entry.path), entry)
  }

  /**
   * @param routing how paths are compared; default: case and a trailing slash make no difference
   * @param other path of the request from another root: an entry matches either
   */
  match(
    method: string,
    path: string,
    routing = LOOSE,
    other?: string,
  ): { readonly value: T } | undefined {
    const entry = this.#find(method, path, routing, other)
    if (entry !== undefined) entry.hasMatched = true
    return entry
  }

  /** As `match`, of a path that nobody has requested. */
  find(method: string, path: string, other: string): { readonly value: T } | undefined {
    return this.#find(method, path, LOOSE, other)
  }

  #find(method: string, path: string, routing: Routing, other?: string): Entry<T> | undefined {
    const route = this.#routes(routing).find(({ entry, pattern }) => {
      return (
        fits(entry, method) && (pattern.test(path) || (other !== undefined && pattern.test(other)))
      )
    })
    return route?.entry
  }

  /** Warns, once for each entry, if a request that no entry matches looks like one of an entry that never matched. */
  missed(method: string, path: string): void {
    if (this.#doubtful.size === 0) return
    const last = lastSegment(path)
    const entry = this.#doubtful.get(last)
    if (entry === undefined || !fits(entry, method)) return
    this.#doubtful.delete(last)
    if (entry.hasMatched) return
    const { route } = entry
    warnOnce(
      'SLUICE_ROUTE_UNMATCHED',
      `No request has matched routes['${route}'] so far, but ${method} …/${last} was requested and matched no entry. ` +
        'If that is the route that you mean, write its path as clients do, or relative to where the limiter is mounted.',
      `SLUICE_ROUTE_UNMATCHED ${route}`,
    )
  }

  #routes({ caseSensitive, strict }: Routing): readonly Route<T>[] {
    const id = `${caseSensitive} ${strict}`
    let routes = this.#compiled.get(id)
    if (routes === undefined) {
      const options = { sensitive: caseSensitive, trailing: !strict }
      routes = this.#entries.flatMap((entry) => compile(entry, options)).sort(bySpecificity)
      this.#compiled.set(id, routes)
    }
    return routes
  }
}

function fits({ method: only }: Entry<unknown>, method: string): boolean {
  return only === undefined || only === method || (only === 'GET' && method === 'HEAD')
}

/** In lower case, without a slash at the end. */
function lastSegment(path: string): string {
  const end = path.endsWith('/') ? path.length - 1 : path.length
  return path.slice(path.lastIndexOf('/', end - 1) + 1, end).toLowerCase()
}

function compile<T>(entry: Entry<T>, options: { sensitive: boolean; trailing: boolean }) {
  const { method, forms, slash } = entry
  const end: Token[] = slash && !options.trailing ? [{ type: 'text', value: '/' }] : []
  /** Whether it is one form of several, with or without optional groups. */
  const optional = forms.length > 1
  return forms.map((form) => {
    const { regexp: pattern } = pathToRegexp(new TokenData([...form, ...end]), options)
    return { entry, method, pattern, rank: rank(form), optional }
  })
}

function read(route: string) {
  const [, method, path] = /^(?:(\S+) )?(\{*\/\S*)$/.exec(route) ?? []
  if (path === undefined) throw wrong(route, "a path from '/' on, with a method before it or none")
  if (method !== undefined && !methods().includes(method)) {
    throw wrong(route, `a method in capitals, such as GET or POST, not '${method}'`)
  }
  try {
    // As routers do: with the slash it would be required.
    const bare = path.replace(/(?<=.)\/+$/, '')
    const data = parse(bare)
    const id = `${method} ${pathToRegexp(data).regexp.source.toLowerCase()}`
    return { route, id, method, path, slash: bare !== path, forms: formsOf(data.tokens) }
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

/** The kind of a segment: a greater letter is more specific. */
const WILDCARD = 'A'
const PARAMETER = 'B'
const TEXT = 'C'

/**
 * The rank of a pattern: for each segment its letter, and how much text is in it. The more specific of two
 * patterns compares greater, segment by segment.
 */
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

/** The amount of text as one character that compares as the number does. */
function amountOfText(segment: string): string {
  return String.fromCharCode(segment.replace(/[^t]/g, '').length)
}

function bySpecificity(one: Route<unknown>, other: Route<unknown>): number {
  if (one.rank !== other.rank) return one.rank < other.rank ? 1 : -1
  return looseness(one) - looseness(other) || Number(one.optional) - Number(other.optional)
}

/** HEAD comes before the GET that would cover it. */
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
