// The parts of the module of Cloudflare's runtime that the pages use, as `wrangler types` declares them.
import type { Decision } from '@sluice/core'
import type { DurableObjectStorage } from '@sluice/transactional'

export abstract class DurableObject {
  protected readonly ctx: {
    readonly storage: DurableObjectStorage & { deleteAll(): Promise<void> }
  }
}

export declare const env: {
  readonly UPSTASH_REDIS_REST_URL: string
  readonly UPSTASH_REDIS_REST_TOKEN: string
  readonly LIMITER: { getByName(name: string): { consume(): Promise<Decision> } }
}
