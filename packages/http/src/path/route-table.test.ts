import { describe, expect, test } from '@jest/globals'
import { SluiceError } from '@sluice/core'
import { RouteTable } from './route-table.ts'

/** Each entry's value is the entry. */
const table = (...routes: string[]) => new RouteTable(routes.map((route) => [route, route]))

function found(routes: string[], request: string): string | undefined {
  const [method, path] = request.split(' ') as [string, string]
  return table(...routes).match(method, path)?.value
}

describe('which requests an entry matches', () => {
  test.each([
    ['/login', 'POST /login', true],
    ['/login', 'GET /login/', true],
    ['/login', 'GET /LOGIN', true],
    ['/Login', 'GET /login', true],
    ['/login/', 'GET /login', true],
    ['/login//', 'GET /login', true],
    ['/login', 'GET /login/x', false],
    ['/login', 'GET /', false],
    ['/login', 'GET /loginx', false],
    ['/login', 'GET //login', false],
    ['/', 'GET /', true],
    ['/', 'GET /x', false],
    ['GET /a', 'GET /a', true],
    ['GET /a', 'HEAD /a', true],
    ['GET /a', 'POST /a', false],
    ['HEAD /a', 'GET /a', false],
    ['POST /a', 'HEAD /a', false],
    ['M-SEARCH /a', 'M-SEARCH /a', true],
    ['/a', 'PURGE /a', true],
    ['/a/:id', 'GET /a/1', true],
    ['/a/:id', 'GET /a/1%2F2', true],
    ['/a/:id', 'GET /a', false],
    ['/a/:id', 'GET /a/1/b', false],
    ['/a/:id/b', 'GET /a/1/b/', true],
    ['/:file.json', 'GET /x.json', true],
    ['/:file.json', 'GET /x.xml', false],
    ['/a/*rest', 'GET /a/b/c', true],
    ['/a/*rest', 'GET /a', false],
    ['/a/*rest', 'GET /a/', false],
    ['/a{/:id}', 'GET /a', true],
    ['/a{/:id}', 'GET /a/1', true],
    ['/a{/:id{/:sub}}', 'GET /a/1/2', true],
    ['/a{/:id{/:sub}}', 'GET /a/1/2/3', false],
    ['{/:lang}/a', 'GET /a', true],
    ['{/:lang}/a', 'GET /de/a', true],
    ['/a\\:b', 'GET /a:b', true],
  ])('%s and %s: %p', (route, request, matches) => {
    expect(found([route], request) !== undefined).toBe(matches)
  })
})

describe('which of the matching entries wins, whatever their order', () => {
  test.each([
    ['text before a parameter', 'GET /a/new', '/a/new', '/a/:id'],
    ['a parameter before a wildcard', 'GET /a/1', '/a/:id', '/a/*rest'],
    ['the first segment that differs', 'GET /a/b', '/a/:x', '/:x/b'],
    ['text before a parameter within text', 'GET /file-1', '/file-1', '/file-:id'],
    ['a parameter within text before one alone', 'GET /file-1', '/file-:id', '/:name'],
    ['more text in the segment', 'GET /file-1', '/file-:id', '/f:rest'],
    ['a longer path before a wildcard', 'GET /a/1/edit', '/a/*rest/edit', '/a/*rest'],
    ['a longer wildcard', 'GET /a/b/c', '/a/*rest', '/*rest'],
    ['text before a wildcard', 'GET /a/b', '/a/b', '/*rest'],
    ['text of an optional group before a parameter', 'GET /a/b', '/a{/b}', '/a/:id'],
    ['text before a parameter of an optional group', 'GET /a/b', '/a/b', '/a{/:id}'],
    ['a pattern without a group before the same with one', 'GET /a', '/a', '/a{/b}'],
    ['a method before none', 'POST /login', 'POST /login', '/login'],
    ['the path before the method', 'POST /a/b', '/a/b', 'POST /a/:id'],
    ['HEAD before GET', 'HEAD /a', 'HEAD /a', 'GET /a'],
    ['GET for HEAD before none', 'HEAD /a', 'GET /a', '/a'],
  ])('%s', (_, request, winner, other) => {
    expect(found([winner, other], request)).toBe(winner)
    expect(found([other, winner], request)).toBe(winner)
  })

  test('the others match what the first does not', () => {
    const routes = ['/a/new', 'POST /a/:id', '/a/:id', '/*rest']
    expect(
      ['GET /a/new', 'POST /a/1', 'GET /a/1', 'GET /x/y', 'GET /'].map((each) =>
        found(routes, each),
      ),
    ).toEqual(['/a/new', 'POST /a/:id', '/a/:id', '/*rest', undefined])
  })
})

describe('entries that can never match, or not as intended', () => {
  test.each([
    ['PSOT /login', /not 'PSOT'/],
    ['post /login', /in capitals/],
    ['login', /from '\/' on/],
    ['POST login', /from '\/' on/],
    ['POST  /login', /from '\/' on/],
    ['POST /login ', /from '\/' on/],
    ['', /from '\/' on/],
    ['*', /from '\/' on/],
    ['https://example.com/login', /from '\/' on/],
    ['/a?', /path-to-regexp/],
    ['/a/(\\d+)', /path-to-regexp/],
    ['/a/*', /path-to-regexp/],
    ['/a/:', /path-to-regexp/],
    ['/a{/b', /path-to-regexp/],
    ['/:a:b', /path-to-regexp/],
    [`/a${'{/b}'.repeat(20)}`, /path-to-regexp/],
  ])('%s', (route, message) => {
    expect(() => table('/fine', route)).toThrow(
      expect.objectContaining({
        name: 'SluiceError',
        code: 'SLUICE_ROUTE',
        option: `routes['${route}']`,
        message: expect.stringMatching(message),
      }),
    )
    expect(() => table(route)).toThrow(SluiceError)
  })

  test.each([
    ['/a/:id', '/a/:name'],
    ['/login', '/Login'],
    ['/login', '/login/'],
    ['POST /login', 'POST /login/'],
  ])('%s and %s are the same', (one, other) => {
    expect(() => table(one, other)).toThrow(
      expect.objectContaining({ code: 'SLUICE_ROUTE', message: expect.stringContaining(one) }),
    )
  })

  test('the same path with another method, or none, is another entry', () => {
    expect(() => table('/login', 'POST /login', 'GET /login', 'HEAD /login')).not.toThrow()
  })
})

describe('how a router compares paths', () => {
  const value = (route: string, path: string, caseSensitive: boolean, strict: boolean) =>
    table(route).match('GET', path, { caseSensitive, strict })?.value

  test.each([
    ['/Login', '/login', true, false, false],
    ['/Login', '/Login', true, false, true],
    ['/login', '/login/', true, false, true],
    ['/login', '/login/', false, true, false],
    ['/login/', '/login/', false, true, true],
    ['/login/', '/login', false, true, false],
    ['/a{/:id}/', '/a/1/', false, true, true],
    ['/', '/', true, true, true],
  ])('%s and %s, case sensitive %p, strict %p: %p', (route, path, sensitive, strict, matches) => {
    expect(value(route, path, sensitive, strict) !== undefined).toBe(matches)
  })

  test('may differ from call to call', () => {
    const one = table('/login')
    const matched = (caseSensitive: boolean, strict: boolean) =>
      one.match('GET', '/Login/', { caseSensitive, strict }) !== undefined
    expect([matched(false, true), matched(false, false), matched(true, false)]).toEqual([
      false,
      true,
      false,
    ])
  })
})
