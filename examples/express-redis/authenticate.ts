import type { RequestHandler } from 'express'

/** The signed-in user. A real application uses a session or a token. */
interface User {
  id: string
  plan: 'free' | 'pro'
}

declare global {
  // biome-ignore lint/style/noNamespace: how Express's types are extended
  namespace Express {
    interface Request {
      user?: User
    }
  }
}

const users = new Map<string, User>([
  ['free-1', { id: '1', plan: 'free' }],
  ['pro-1', { id: '2', plan: 'pro' }],
])

export const authenticate: RequestHandler = (request, _response, next) => {
  const user = users.get(request.get('x-api-key') ?? '')
  if (user !== undefined) request.user = user
  next()
}
