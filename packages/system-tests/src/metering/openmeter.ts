import type { OpenMeter } from '@openmeter/sdk'
import type { MeterRecord } from '@sluice/meter'

export function toOpenMeter(openmeter: OpenMeter) {
  // #region
  async function send(batch: readonly MeterRecord[]) {
    await openmeter.events.ingest(
      batch.map(({ id, key, at, policy, units }) => ({
        id,
        source: 'sluice',
        type: 'usage',
        subject: key,
        time: new Date(at),
        data: { policy, units },
      })),
    )
  }
  // #endregion
  return send
}
