import { useData } from 'vitepress'
import { defineComponent, onBeforeUnmount, onMounted, watch } from 'vue'

/** The places of the limiters, on the pages that have them: all of the live page, or those that play. */
const PLACES = '#live, #playing'

/** Resolves when the reader is near an element. */
function nearness(element: Element): Promise<void> {
  return new Promise((resolve) => {
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting !== true) return
        observer.disconnect()
        resolve()
      },
      { rootMargin: '200px' },
    )
    observer.observe(element)
  })
}

/** Shows the limiters of the live page. Draws nothing itself. */
export const LiveLimiters = defineComponent(() => {
  const { page } = useData()
  let end: (() => void) | undefined
  const leave = () => {
    end?.()
    end = undefined
  }
  const enter = async () => {
    leave()
    const place = document.querySelector(PLACES)
    if (place === null) return
    await nearness(place)
    const [{ embed, Limiters, Playing }, { default: style }] = await Promise.all([
      import('@sluice/live/page'),
      import('@sluice/live/page.css?inline'),
    ])
    if (place.isConnected) end = await embed(place, style, place.id === 'live' ? Limiters : Playing)
  }
  onMounted(enter)
  watch(() => page.value.relativePath, enter, { flush: 'post' })
  onBeforeUnmount(leave)
  return () => null
})
