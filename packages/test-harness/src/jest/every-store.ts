/**
 * Whether each framework runs its suite on Redis too. Nothing that a store does depends on the
 * framework, so by default only Express and Hono do, one for each of core's two exchanges.
 */
export const everyStore = process.env.SLUICE_EVERY_STORE === '1'
