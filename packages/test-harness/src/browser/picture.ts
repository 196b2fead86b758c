import { join, resolve } from 'node:path'
import type { Page, PageScreenshotOptions } from 'playwright-core'

const images = resolve(import.meta.dirname, '../../../../docs/images')

/**
 * Writes a picture of the page into docs/images, if SLUICE_PICTURES is set: so that tests leave the
 * tree as it is. What it shows must be the same each time.
 *
 * @param name the name of the file, with `.png`
 */
export async function picture(
  page: Page,
  name: string,
  options: PageScreenshotOptions = {},
): Promise<void> {
  if (!process.env.SLUICE_PICTURES) return
  await page.screenshot({ animations: 'disabled', ...options, path: join(images, name) })
}
