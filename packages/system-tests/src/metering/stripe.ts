import type { MeterRecord } from '@sluice/meter'
import Stripe from 'stripe'

export function toStripe(
  stripe: Stripe,
  customerOf: (key: string) => string,
  config?: ConstructorParameters<typeof Stripe>[1],
) {
  // #region
  async function send(batch: readonly MeterRecord[]) {
    const { authentication_token } = await stripe.v2.billing.meterEventSession.create()
    const stream = new Stripe(authentication_token, config)
    await stream.v2.billing.meterEventStream.create({
      events: batch.map(({ id, key, at, units }) => ({
        identifier: id,
        event_name: 'tokens',
        timestamp: new Date(at).toISOString(),
        payload: { stripe_customer_id: customerOf(key), value: String(units) },
      })),
    })
  }
  // #endregion
  return send
}
