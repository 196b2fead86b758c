import { warnOnce } from '@sluice/core/internal'

/** Warns of a limiter that sees only what no route of the application has answered. */
export function warnAfterRoutes(): void {
  warnOnce(
    'SLUICE_AFTER_ROUTES',
    'The limiter is behind all routes of the application, so it limits only requests that no route has answered. ' +
      'Move app.use(rateLimit(…)) before the routes.',
  )
}
