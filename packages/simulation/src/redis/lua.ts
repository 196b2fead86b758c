import { Lua } from 'wasmoon-lua5.1'
import { ErrorReply, execute, type Keys, type RedisReply } from './commands.ts'

type LuaApi = Awaited<ReturnType<typeof Lua.create>>['global']['luaApi']

/** The C interface of Lua, as the package exports it. Texts and results are addresses in its memory. */
type LuaModule = {
  readonly [name in keyof LuaApi as name extends `lua${string}` ? `_${name}` : never]: (
    ...values: number[]
  ) => number
} & {
  readonly HEAPU8: Uint8Array
  addFunction(act: (state: number) => number, signature: 'ii'): number
  _malloc(bytes: number): number
}

/** So many compiled scripts are kept: about those of fifty simulations. */
const MAX_COMPILED = 500
const [BOOLEAN, NUMBER, STRING, TABLE] = [1, 3, 4, 5]
const REGISTRY = -10_000
const GLOBALS = -10_002
const DOUBLE = 8

/**
 * Runs the scripts of Redis in Lua 5.1, which is that of Redis, compiled to WebAssembly. It has Lua's own functions, of
 * `redis` what scripts call, and of `struct` doubles.
 */
export class LuaMachine {
  readonly #lua: LuaModule
  readonly #state: number
  /** The scripts that were compiled, by their text. */
  readonly #compiled = new Map<string, number>()
  readonly #lengthAt: number
  #bufferAt: number
  #bufferSize = 1 << 16
  #memory: Buffer
  #doubles: DataView
  #keys: Keys | undefined

  private constructor(lua: LuaModule) {
    this.#lua = lua
    this.#memory = Buffer.from(lua.HEAPU8.buffer)
    this.#doubles = new DataView(lua.HEAPU8.buffer)
    this.#lengthAt = lua._malloc(8)
    this.#bufferAt = lua._malloc(this.#bufferSize)
    this.#state = lua._luaL_newstate()
    lua._luaL_openlibs(this.#state)
    this.#register('redis', {
      call: (state) => this.#command(state, true),
      pcall: (state) => this.#command(state, false),
      error_reply: (state) => {
        this.#pushError(state, this.#text(state, 1))
        return 1
      },
    })
    this.#register('struct', {
      pack: (state) => this.#pack(state),
      unpack: (state) => this.#unpack(state),
    })
  }

  static async create(): Promise<LuaMachine> {
    const { global } = await Lua.create()
    return new LuaMachine(global.luaApi.module as unknown as LuaModule)
  }

  /**
   * Runs a script.
   *
   * @param keys what the server has
   * @returns the reply as a client gets it, text as bytes; an error that the script replies with, or fails with
   */
  run(text: string, names: readonly string[], args: readonly string[], keys: Keys): unknown {
    const lua = this.#lua
    const state = this.#state
    this.#keys = keys
    this.#pushReply(state, names)
    lua._lua_setfield(state, GLOBALS, this.#put('KEYS\0'))
    this.#pushReply(state, args)
    lua._lua_setfield(state, GLOBALS, this.#put('ARGV\0'))
    lua._lua_rawgeti(state, REGISTRY, this.#functionOf(text))
    const isFailed = lua._lua_pcall(state, 0, 1, 0) !== 0
    const result = isFailed ? new ErrorReply(this.#text(state, -1)) : this.#replyOf(-1)
    lua._lua_settop(state, 0)
    return result
  }

  #functionOf(text: string): number {
    const known = this.#compiled.get(text)
    if (known !== undefined) return known
    const lua = this.#lua
    const state = this.#state
    if (this.#compiled.size === MAX_COMPILED) {
      for (const each of this.#compiled.values()) lua._luaL_unref(state, REGISTRY, each)
      this.#compiled.clear()
    }
    const name = this.#put(`script\0${text}`)
    const from = name + 'script\0'.length
    if (lua._luaL_loadbuffer(state, from, text.length, name) !== 0)
      throw new Error(this.#text(state, -1))
    const reference = lua._luaL_ref(state, REGISTRY)
    this.#compiled.set(text, reference)
    return reference
  }

  #register(library: string, functions: { [name: string]: (state: number) => number }) {
    const lua = this.#lua
    const state = this.#state
    lua._lua_createtable(state, 0, 0)
    for (const [name, act] of Object.entries(functions)) {
      lua._lua_pushcclosure(state, lua.addFunction(act, 'ii'), 0)
      lua._lua_setfield(state, -2, this.#put(`${name}\0`))
    }
    lua._lua_setfield(state, GLOBALS, this.#put(`${library}\0`))
  }

  /** @param raises whether an error ends the script */
  #command(state: number, raises: boolean): number {
    const count = this.#lua._lua_gettop(state)
    const args: string[] = []
    for (let place = 1; place <= count; place += 1) args.push(this.#argument(state, place))
    try {
      this.#pushReply(state, execute(this.#keys as Keys, args))
    } catch (error) {
      if (!(error instanceof ErrorReply)) throw error
      if (!raises) {
        this.#pushError(state, error.message)
        return 1
      }
      this.#pushText(state, error.message)
      return this.#lua._lua_error(state)
    }
    return 1
  }

  /** Numbers are not shortened, as Lua does it: Redis writes them with 17 digits. */
  #argument(state: number, place: number): string {
    if (this.#lua._lua_type(state, place) !== NUMBER) return this.#text(state, place)
    return String(this.#lua._lua_tonumber(state, place)).replace('Infinity', 'inf')
  }

  #pack(state: number): number {
    const { isLittle, count } = formatOf(this.#text(state, 1))
    this.#reserve(count * DOUBLE)
    const bytes = this.#view()
    for (let i = 0; i < count; i += 1)
      bytes.setFloat64(this.#bufferAt + i * DOUBLE, this.#lua._lua_tonumber(state, i + 2), isLittle)
    this.#lua._lua_pushlstring(state, this.#bufferAt, count * DOUBLE)
    return 1
  }

  /** Pushes the numbers, and the place behind them. */
  #unpack(state: number): number {
    const lua = this.#lua
    const { isLittle, count } = formatOf(this.#text(state, 1))
    const from = lua._lua_gettop(state) < 3 ? 0 : lua._lua_tonumber(state, 3) - 1
    const address = lua._lua_tolstring(state, 2, this.#lengthAt)
    const bytes = this.#view()
    if (from + count * DOUBLE > bytes.getUint32(this.#lengthAt, true)) {
      this.#pushText(state, 'data string too short')
      return lua._lua_error(state)
    }
    lua._lua_checkstack(state, count + 1)
    for (let i = 0; i < count; i += 1)
      lua._lua_pushnumber(state, bytes.getFloat64(address + from + i * DOUBLE, isLittle))
    lua._lua_pushnumber(state, from + count * DOUBLE + 1)
    return count + 1
  }

  /** Pushes a reply as scripts see it. */
  #pushReply(state: number, reply: RedisReply): void {
    const lua = this.#lua
    if (typeof reply === 'string') this.#pushText(state, reply)
    else if (typeof reply === 'number') lua._lua_pushnumber(state, reply)
    else if (reply === null) lua._lua_pushboolean(state, 0)
    else if ('ok' in reply) this.#pushField(state, 'ok', reply.ok)
    else {
      lua._lua_checkstack(state, 2)
      lua._lua_createtable(state, reply.length, 0)
      for (const [i, each] of reply.entries()) {
        this.#pushReply(state, each)
        lua._lua_rawseti(state, -2, i + 1)
      }
    }
  }

  #pushError(state: number, message: string): void {
    this.#pushField(state, 'err', message)
  }

  #pushField(state: number, name: string, text: string): void {
    this.#lua._lua_createtable(state, 0, 1)
    this.#pushText(state, text)
    this.#lua._lua_setfield(state, -2, this.#put(`${name}\0`))
  }

  #pushText(state: number, text: string): void {
    this.#lua._lua_pushlstring(state, this.#put(text), text.length)
  }

  /** What a script returns, as a client gets it. */
  #replyOf(place: number): unknown {
    const lua = this.#lua
    const state = this.#state
    const type = lua._lua_type(state, place)
    if (type === STRING) return Buffer.from(this.#text(state, place), 'latin1')
    if (type === NUMBER) return Math.trunc(lua._lua_tonumber(state, place))
    if (type === BOOLEAN) return lua._lua_toboolean(state, place) === 0 ? null : 1
    return type === TABLE ? this.#tableOf() : null
  }

  /** The table on the top of the stack: an error, or an array up to its first nil. */
  #tableOf(): unknown {
    const lua = this.#lua
    const state = this.#state
    lua._lua_getfield(state, -1, this.#put('err\0'))
    const error = lua._lua_type(state, -1) === STRING ? this.#text(state, -1) : undefined
    lua._lua_settop(state, -2)
    if (error !== undefined) return new ErrorReply(error)
    const all: unknown[] = []
    for (let i = 1; ; i += 1) {
      lua._lua_rawgeti(state, -1, i)
      const isEnd = lua._lua_type(state, -1) === 0
      if (!isEnd) all.push(this.#replyOf(-1))
      lua._lua_settop(state, -2)
      if (isEnd) return all
    }
  }

  /** A text, one character for each byte. */
  #text(state: number, place: number): string {
    const address = this.#lua._lua_tolstring(state, place, this.#lengthAt)
    const memory = this.#bytes()
    return memory.toString('latin1', address, address + memory.readUInt32LE(this.#lengthAt))
  }

  /** Writes a text where C finds it until the next call. @returns its address */
  #put(text: string): number {
    this.#reserve(text.length)
    this.#bytes().write(text, this.#bufferAt, 'latin1')
    return this.#bufferAt
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#bufferSize) return
    this.#bufferSize = 2 * bytes
    this.#bufferAt = this.#lua._malloc(this.#bufferSize)
  }

  #bytes(): Buffer {
    this.#follow()
    return this.#memory
  }

  #view(): DataView {
    this.#follow()
    return this.#doubles
  }

  /** Its memory is another one after it has grown. */
  #follow(): void {
    const { buffer } = this.#lua.HEAPU8
    if (this.#memory.buffer === buffer) return
    this.#memory = Buffer.from(buffer)
    this.#doubles = new DataView(buffer)
  }
}

/** `<ddd`: doubles, with the lowest byte first. */
function formatOf(format: string): { readonly isLittle: boolean; readonly count: number } {
  if (!/^[<>]d+$/.test(format)) throw new Error(`struct: ${format}`)
  return { isLittle: format.startsWith('<'), count: format.length - 1 }
}
