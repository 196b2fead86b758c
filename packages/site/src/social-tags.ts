import { SITE } from '@sluice/ui/addresses'
import type { HeadConfig } from 'vitepress'

/** The picture that others show beside a link to the site: 1200 × 630 px. */
export const CARD = 'social.png'

/** The tags for the preview of a link to a page, by its path on the site. */
export function socialTags(path: string, title: string, description: string): HeadConfig[] {
  const tags = {
    'og:site_name': 'Sluice',
    'og:type': 'website',
    'og:url': SITE + path,
    'og:title': title,
    'og:description': description,
    'og:image': SITE + CARD,
    'og:image:width': '1200',
    'og:image:height': '630',
    'og:image:alt': 'Sluice: rate limiting for Node’s HTTP servers',
    'twitter:card': 'summary_large_image',
  }
  return [
    ['link', { rel: 'canonical', href: SITE + path }],
    ...Object.entries(tags).map(([property, content]): HeadConfig => {
      return ['meta', { [property.startsWith('og:') ? 'property' : 'name']: property, content }]
    }),
  ]
}
