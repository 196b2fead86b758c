export { createMcpLimiter, type McpLimiter } from './mcp-limiter.ts'
export type { McpCall, McpKey, McpLimit, McpLimiterOptions, McpPolicy } from './options.ts'
