/**
 * Corrections for screen readers in the search of VitePress 1.6, by file: what a template has, and
 * what it should have. The dialog says that it is a button, the results hide their text behind a
 * label and are options that contain links, and keys have names without a role.
 */
const CORRECTIONS: Record<string, readonly (readonly [string, string])[]> = {
  'VPLocalSearchBox.vue': [
    ['role="button"', 'role="dialog" aria-modal="true"'],
    [`:aria-owns="results?.length ? 'localsearch-list' : undefined"`, ''],
    ['aria-expanded="true"', ''],
    ['aria-haspopup="listbox"', ''],
    [`:role="results?.length ? 'listbox' : undefined"`, ''],
    [`:aria-selected="selectedIndex === index ? 'true' : 'false'"`, ''],
    ['role="option"', ''],
    [`:aria-label="[...p.titles, p.title].join(' > ')"`, ''],
    ['<kbd :aria-label=', '<kbd role="img" :aria-label='],
    ['<span class="title-icon">', '<span class="title-icon" aria-hidden="true">'],
  ],
  'VPNavBarSearchButton.vue': [
    [':aria-label=', ':title='],
    [
      '<span class="DocSearch-Button-Keys">',
      '<span class="DocSearch-Button-Keys" aria-hidden="true">',
    ],
  ],
}

/**
 * @param id the id of a module
 * @returns its code, corrected; null for a module that needs no correction
 * @throws Error if VitePress has changed the module
 */
export function correctSearch(code: string, id: string): string | null {
  const file = /theme-default\/components\/(\w+\.vue)$/.exec(id)?.[1]
  const corrections = CORRECTIONS[file ?? '']
  if (corrections === undefined) return null
  return corrections.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`${file} has no ${from}: is it still needed?`)
    return text.replaceAll(from, to)
  }, code)
}
