import { describe, expect, it } from '@jest/globals'
import { checkKnown } from './known.ts'
import { OPTION_NAMES } from './option-names.ts'

const code = (value: string) => expect.objectContaining({ code: `SLUICE_OPTION_${value}` })

describe('an unknown name', () => {
  const known = ['limit', 'window', 'key', 'retryAfterJitter']
  const fixOf = (option: string) => {
    try {
      checkKnown('', { [option]: 1 }, known)
    } catch (error) {
      return (error as { fix: string }).fix
    }
    return undefined
  }

  it.each([
    ['Limit', "did you mean 'limit'"],
    ['limt', "did you mean 'limit'"],
    ['windows', "did you mean 'window'"],
    ['retryafterjiter', "did you mean 'retryAfterJitter'"],
  ])('%s: the message names a similar option', (option, said) => {
    expect(fixOf(option)).toContain(said)
  })

  it.each(['mx', 'ke', 'xyz', 'wndwMillis', ''])('%p is near to none', (option) => {
    expect(fixOf(option)).toBe('Remove it or correct its name.')
  })

  it.each([
    ['routes', 'prefix', OPTION_NAMES.route, 'Move it to the options of the limiter.'],
    ['policies[0]', 'headers', OPTION_NAMES.httpPolicy, 'Move it to the options of the limiter'],
    ['', 'prefix', OPTION_NAMES.redisStore, 'Move it to the options of the limiter.'],
    ['', 'key', OPTION_NAMES.limiter, 'only adapters have it.'],
    ['', 'limit', ['policies'], 'Move limit into an entry of policies.'],
    ['policies[0]', 'reserve', ['limit', 'window'], 'Remove it or correct its name.'],
  ])('of another place says which: %p %s', (path, option, here, fix) => {
    expect(() => checkKnown(path, { [option]: 1 }, here)).toThrow(fix)
  })

  it('is refused whatever its value, even if Object has a property of that name', () => {
    expect(() => checkKnown('', { limits: undefined }, known)).toThrow(code('UNKNOWN'))
    expect(() => checkKnown('', { constructor: 1 }, known)).toThrow(code('UNKNOWN'))
    expect(() => checkKnown('policies[0]', { limits: 1 }, known)).toThrow(
      expect.objectContaining({ option: 'policies[0].limits' }),
    )
  })
})
