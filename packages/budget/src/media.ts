/** An image, a recording or a file in a prompt. */
export interface Media {
  readonly kind: 'image' | 'audio' | 'video' | 'file'
  /** Its size. Undefined if the prompt has only its address or its id. */
  readonly bytes: number | undefined
  /** Such as `'application/pdf'`. Undefined if the prompt does not say. */
  readonly mediaType: string | undefined
}

/** Returns about how many tokens it has, or undefined for Sluice's estimate. */
export type MediaTokens = (media: Media) => number | undefined

/** A part of a prompt whose data is no text. */
interface Part extends Media {
  /** The object that has the data. */
  readonly owner: object
  readonly data: unknown
}

/** The types of such parts in the APIs of OpenAI and Anthropic, and in the prompts of the AI SDK. */
const TYPE =
  /^(?:input[_-])?(image|audio|video|file|document|media|computer_screenshot)(?:[_-]file)?(?:[_-](?:url|data|id|reference))?$/
/** The fields that have the data, an address or an id. */
const DATA = /^(?:data|url|reference|(?:file|image|video)_(?:data|url|id))$/
const MEDIA_TYPE = /^(?:media|mime)_?type$/i
const HEAD = /^data:([^;,]{1,100})[^,]{0,100},/

/** Bytes of a token; and the tokens of a picture, or of what has no size. */
const TOKENS = {
  image: [Infinity, 5000],
  audio: [100, 10_000],
  video: [100, 50_000],
  file: [10, 50_000],
} as const

/** Returns a part that a model reads as something else than text; undefined for all others. */
export function mediaIn(part: object): Part | undefined {
  const { type } = part as { type?: unknown }
  const named = typeof type === 'string' ? TYPE.exec(type)?.[1] : undefined
  if (named === undefined) return undefined
  const isOwner = (value: unknown) =>
    typeof value === 'object' && value !== null && !ArrayBuffer.isView(value)
  const owners: object[] = [part, ...Object.values(part).filter(isOwner)]
  const fields = owners.flatMap((owner) =>
    Object.entries(owner).map(([name, value]: [string, unknown]) => ({ owner, name, value })),
  )
  const field = fields.find(
    ({ name, value }) =>
      DATA.test(name) && (!isOwner(value) || value instanceof URL || name === 'reference'),
  )
  const isText = fields.some(({ name, value }) => name === 'type' && value === 'text')
  if (field === undefined || isText) return undefined
  const { owner, name, value: data } = field
  const [head, ofHead] = typeof data === 'string' ? (HEAD.exec(data) ?? ['']) : ['']
  const said = fields.find((each) => MEDIA_TYPE.test(each.name))?.value
  const mediaType = typeof said === 'string' ? said : ofHead
  if (mediaType?.startsWith('text')) return undefined
  const isBase64 = typeof data === 'string' && (head !== '' || name.endsWith('data'))
  const ofBase64 = isBase64 ? Math.floor(((data.length - head.length) * 3) / 4) : undefined
  const bytes = ArrayBuffer.isView(data) ? data.byteLength : ofBase64
  return { kind: kindOf(mediaType ?? named), bytes, mediaType, owner, data }
}

/** The tokens of a part. */
export function tokensOf({ kind, bytes, mediaType }: Media, own?: MediaTokens): number {
  const tokens = own?.({ kind, bytes, mediaType })
  if (typeof tokens === 'number' && tokens >= 0) return Math.ceil(tokens)
  const [bytesPerToken, without] = TOKENS[kind]
  return bytes === undefined || kind === 'image' ? without : Math.ceil(bytes / bytesPerToken)
}

/** @param name a media type, or that of a part */
function kindOf(name: string): Media['kind'] {
  const [, kind] = /^(image|audio|video)/.exec(name.replace('computer_screenshot', 'image')) ?? []
  return (kind as Media['kind'] | undefined) ?? 'file'
}
