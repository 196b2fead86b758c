// Faults in how a page looks. Each function runs in the page, so it stands alone.

/** Text that is cut off by the window, or that lies outside the block that it is in, where nothing scrolls. */
export function textOutside(): string[] {
  const SLACK = 1.5
  const found: string[] = []
  const isInline = (element: Element) => /^inline(?!-block)/.test(getComputedStyle(element).display)
  const scrolls = (element: Element | null): boolean =>
    element !== null &&
    (getComputedStyle(element).overflowX !== 'visible' || scrolls(element.parentElement))
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    let block = text.parentElement as HTMLElement
    if (text.textContent?.trim() === '' || !block.checkVisibility({ visibilityProperty: true }))
      continue
    while (isInline(block)) block = block.parentElement as HTMLElement
    const { left, right } = block.getBoundingClientRect()
    // Text for screen readers alone has no room.
    if (right - left < 2 || scrolls(block)) continue
    const range = document.createRange()
    range.selectNodeContents(text)
    for (const each of range.getClientRects()) {
      const isIn = each.left >= left - SLACK && each.right <= Math.min(right, innerWidth) + SLACK
      if (!isIn && each.width > 0) found.push(`outside its ${block.localName}: ${text.textContent}`)
    }
  }
  return [...new Set(found)]
}

/** Words of code whose contrast is below that of WCAG AA, and lines that have the colour of their first word. */
export function faintCode(): string[] {
  const LEAST = 4.5
  const numbers = (colour: string) => (colour.match(/[\d.]+/g) ?? []).map(Number)
  const luminance = (colour: string) => {
    const [red, green, blue] = numbers(colour)
      .slice(0, 3)
      .map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0)
  }
  const backgroundOf = (element: Element): string => {
    const { backgroundColor } = getComputedStyle(element)
    if (numbers(backgroundColor)[3] !== 0 || element.parentElement === null) return backgroundColor
    return backgroundOf(element.parentElement)
  }
  const faint = new Map<string, string>()
  for (const word of document.querySelectorAll('.shiki .line > span')) {
    const { color } = getComputedStyle(word)
    const background = backgroundOf(word)
    const pair = `${color} on ${background}`
    if (faint.has(pair)) continue
    const [dark, light] = [luminance(color), luminance(background)].sort((a, b) => a - b)
    const contrast = ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05)
    faint.set(pair, contrast < LEAST ? `contrast ${contrast.toFixed(1)}: ${word.textContent}` : '')
  }
  const lines = [...document.querySelectorAll('.shiki .line')].filter(
    ({ textContent, children }) =>
      /^import .* from '/.test(textContent ?? '') && children.length < 3,
  )
  return [
    ...[...faint.values()].filter((text) => text !== ''),
    ...lines.map(({ textContent }) => `in one colour: ${textContent}`),
  ]
}

/** As the reader's choice does. */
export function setScheme(scheme: 'light' | 'dark'): void {
  document.documentElement.classList.toggle('dark', scheme === 'dark')
}
