/** The terminal, or what stands in its place. */
export interface Io {
  readonly stdin: NodeJS.ReadableStream & {
    readonly isTTY?: boolean
    setRawMode?(isRaw: boolean): unknown
  }
  readonly stdout: NodeJS.WritableStream & {
    readonly isTTY?: boolean
    readonly columns?: number
    readonly rows?: number
  }
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean }
}
