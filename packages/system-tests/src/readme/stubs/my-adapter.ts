import type { Request, Response } from './my-framework.ts'

export declare function rateLimit(
  options: object,
): (request: Request, response: Response, next: () => void) => void
