// The types of Astro that its page uses.

export interface APIContext {
  readonly request: Request
  readonly clientAddress: string
  readonly isPrerendered: boolean
}

export type MiddlewareNext = () => Promise<Response>

export type MiddlewareHandler = (
  context: APIContext,
  next: MiddlewareNext,
) => Promise<Response> | Response
