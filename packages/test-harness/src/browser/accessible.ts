import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'

/**
 * @throws Error with every finding of axe that is serious or critical, and where.
 */
export async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page })
    // axe then does its work in this page alone and opens no second one.
    .setLegacyMode()
    // It then describes no element that passes, of which a long table has thousands.
    .options({ resultTypes: ['violations'] })
    .analyze()
  const findings = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, impact, help, nodes }) => {
      const places = nodes.map(({ target, failureSummary }) => `  ${target}: ${failureSummary}`)
      return [`${id} (${impact}): ${help}`, ...places].join('\n')
    })
  if (findings.length > 0) throw new Error(`axe finds in ${page.url()}\n${findings.join('\n')}`)
}
