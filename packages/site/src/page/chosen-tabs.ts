import { useData } from 'vitepress'
import { defineComponent, onBeforeUnmount, onMounted, watch } from 'vue'

const STORED = 'sluice-tabs'
const INPUTS = '.vp-code-group input'

/** The kind of a tab: `ESM`, `pnpm`. The label may name a file besides. */
function kindOf(input: HTMLInputElement): string {
  return input.labels?.[0]?.textContent?.split(':')[0] ?? ''
}

const inputs = () => [...document.querySelectorAll<HTMLInputElement>(INPUTS)]

function chosen(): string[] {
  try {
    return JSON.parse(localStorage.getItem(STORED) ?? '[]')
  } catch {
    return []
  }
}

/** Shows the tabs of these kinds in all groups that have them. VitePress changes a group when its input is clicked. */
function show(kinds: readonly string[]): void {
  for (const input of inputs()) if (!input.checked && kinds.includes(kindOf(input))) input.click()
}

/** Shows the module system and the package manager that the reader has chosen, on every page. Draws nothing itself. */
export const ChosenTabs = defineComponent(() => {
  const { page } = useData()
  const choose = ({ target, isTrusted }: Event) => {
    if (!isTrusted || !(target instanceof HTMLInputElement) || !target.matches(INPUTS)) return
    const group = inputs().filter(({ name }) => name === target.name)
    const ofGroup = group.map(kindOf)
    const kinds = chosen().filter((kind) => !ofGroup.includes(kind))
    localStorage.setItem(STORED, JSON.stringify([...kinds, kindOf(target)]))
    show([kindOf(target)])
  }
  onMounted(() => {
    document.addEventListener('change', choose)
    show(chosen())
  })
  watch(
    () => page.value.relativePath,
    () => show(chosen()),
    { flush: 'post' },
  )
  onBeforeUnmount(() => document.removeEventListener('change', choose))
  return () => null
})
