import { signal } from '@preact/signals'

const query = matchMedia('(width < 40rem)')

/** Whether the screen is as narrow as a phone's. */
export const isNarrow = signal(query.matches)
query.addEventListener('change', () => {
  isNarrow.value = query.matches
})
