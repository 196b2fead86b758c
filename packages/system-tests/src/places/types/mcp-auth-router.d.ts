// What the page about MCP uses of SDK 1.
import type { RequestHandler } from 'express'

interface EndpointOptions {
  readonly rateLimit?: object | false
}

export declare function mcpAuthRouter(options: {
  readonly provider: object
  readonly issuerUrl: URL
  readonly authorizationOptions?: EndpointOptions
  readonly clientRegistrationOptions?: EndpointOptions
  readonly revocationOptions?: EndpointOptions
  readonly tokenOptions?: EndpointOptions
}): RequestHandler
