// Over HTTP a reply is text: bytes that are not UTF-8 are lost, however it is encoded on the way. So a script
// that replies with numbers in bytes writes them as decimal numbers there, with a comma behind each: this is
// neither JSON nor base64, so a client that tries to read it as one of these leaves it as it is.

/** How many numbers Lua formats in one call: its stack has room for some thousands. */
const TOGETHER = 256

/** The script that replies with the decimal numbers in place of the bytes. */
export function inDecimals(script: string): string {
  return `local function decide()
${script}
end
local reply = decide()
local isAlone = type(reply) == 'string'
local bytes, parts = isAlone and reply or reply[1], {}
for from = 1, #bytes, ${8 * TOGETHER} do
  local count = math.min(${TOGETHER}, (#bytes - from + 1) / 8)
  parts[#parts + 1] = ('%.17g,'):rep(count):format(struct.unpack('<' .. ('d'):rep(count), bytes, from))
end
local decimals = table.concat(parts)
if isAlone then return decimals end
reply[1] = decimals
return reply`
}

/**
 * The bytes in the place of the decimal numbers, and what came behind them.
 * @throws TypeError if the reply is none of such a script: who answers may not be the store
 */
export function fromDecimals(reply: unknown): unknown {
  if (!Array.isArray(reply)) return bytesOf(reply)
  return [bytesOf(reply[0]), ...reply.slice(1)]
}

const DECIMALS = /^(?:-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|inf),)+$/i

function bytesOf(decimals: unknown): Uint8Array {
  if (typeof decimals !== 'string' || !DECIMALS.test(decimals))
    throw new TypeError('the reply is not that of the script')
  const numbers = decimals.slice(0, -1).split(',')
  const bytes = new DataView(new ArrayBuffer(8 * numbers.length))
  numbers.forEach((number, i) => {
    bytes.setFloat64(8 * i, Number(number.replace(/inf/i, 'Infinity')), true)
  })
  return new Uint8Array(bytes.buffer)
}
