/** Sends a request to the limiters, `/try/…` or `/clock`, as `fetch` would. */
export type Send = (path: string, init?: RequestInit) => Promise<Response>

/** Sends a request to the server that the page is from. */
export const sendOverHttp: Send = (path, init) => fetch(path, { ...init, cache: 'no-store' })
