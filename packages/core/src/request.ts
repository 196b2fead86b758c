/** What an adapter must supply: where its framework keeps the facts of a request. */
export interface Framework<Request> {
  /** The client's address as the framework sees it behind its proxy setting; as text, unchecked. */
  address(request: Request): string | undefined
  /** The user by the framework's convention, if one is signed in: an object with `id` or `sub`. */
  user(request: Request): unknown
  /** One header field of the request; undefined if it is absent. */
  header(request: Request, name: string): string | undefined
  method(request: Request): string
}

/** A CORS preflight (Fetch §3.2.2): never limited nor counted, since a refusal would hide the reason. */
export function isPreflight<Request>(framework: Framework<Request>, request: Request): boolean {
  return (
    framework.method(request) === 'OPTIONS' &&
    framework.header(request, 'origin') !== undefined &&
    framework.header(request, 'access-control-request-method') !== undefined
  )
}
