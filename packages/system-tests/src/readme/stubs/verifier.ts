import { OAuthError, OAuthErrorCode, type OAuthTokenVerifier } from '@modelcontextprotocol/server'

/** Knows the tokens `<user> <client> <number>`. */
export const verifier: OAuthTokenVerifier = {
  async verifyAccessToken(token) {
    const [user, clientId, number] = token.split('.')
    if (!number || !clientId) throw new OAuthError(OAuthErrorCode.InvalidToken, 'no such token')
    const expiresAt = Math.ceil(Date.now() / 1000) + 3600
    return { token, clientId, scopes: [], expiresAt, extra: { user } }
  },
}
