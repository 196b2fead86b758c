import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'

/**
 * @throws Error with every finding of axe that is serious or critical, and where.
 */
export async function expectAccessible(page: Page): Promise<void> {
  // Legacy mode: axe then does its work in this page alone and opens no second one.
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze()
  const findings = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, impact, help, nodes }) => {
      const places = nodes.map(({ target, failureSummary }) => `  ${target}: ${failureSummary}`)
      return [`${id} (${impact}): ${help}`, ...places].join('\n')
    })
  if (findings.length > 0) throw new Error(`axe finds in ${page.url()}\n${findings.join('\n')}`)
}
