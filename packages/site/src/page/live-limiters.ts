import { useData } from 'vitepress'
import { defineComponent, onBeforeUnmount, onMounted, watch } from 'vue'

/** What the limiters take the place of, on the page that has it. */
const PLACE = '#live'

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
    const place = document.querySelector(PLACE)
    if (place === null) return
    const [{ embed }, { default: style }] = await Promise.all([
      import('@sluice/live/page'),
      import('@sluice/live/page.css?inline'),
    ])
    if (place.isConnected) end = await embed(place, style)
  }
  onMounted(enter)
  watch(() => page.value.relativePath, enter, { flush: 'post' })
  onBeforeUnmount(leave)
  return () => null
})
