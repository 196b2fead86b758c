import type { RequestAdapter } from '../request-adapter.ts'

/** How the address of a request's client is read: as text, unchecked. */
export type AddressReader<Request> = (request: Request) => string | undefined

/**
 * Thrown where an address is asked for that is no longer known, because the client has disconnected.
 * Such a request must not be charged to the quota that clients without an address share.
 */
export const CLIENT_GONE = Symbol('sluice.client-gone')

/**
 * A request with the address of its client, which is read once, however many policies and lists ask
 * for it: a framework may walk through thousands of entries of X-Forwarded-For each time.
 */
export class RequestAddress<Request> {
  readonly request: Request
  private readonly read: AddressReader<Request>
  private readonly adapter: Pick<RequestAdapter<Request, never>, 'isGone'>
  private isKnown = false
  private known: string | undefined = undefined

  constructor(
    request: Request,
    read: AddressReader<Request>,
    adapter: Pick<RequestAdapter<Request, never>, 'isGone'>,
  ) {
    this.request = request
    this.read = read
    this.adapter = adapter
  }

  /**
   * The address, as text, unchecked; undefined if the client has none, as on a Unix socket.
   * @throws CLIENT_GONE
   */
  get address(): string | undefined {
    if (!this.isKnown) {
      const address = this.read(this.request)
      if (!address && this.adapter.isGone(this.request)) throw CLIENT_GONE
      this.known = address
      this.isKnown = true
    }
    return this.known
  }
}
