import { render } from 'preact'
import { Limiters } from './limiters.tsx'
import { Playing } from './playing.tsx'
import { start } from './start.ts'
import { limitersInPage } from './traffic/in-page.ts'

export { Limiters, Playing }

/**
 * Shows the limiters in place of an element's content, with limiters of their own: no server.
 *
 * @param element gets a shadow root, so that its styles and those of its page do not meet
 * @param style the text of main.css
 * @param Shown all of the page, or the limiters that play by themselves
 * @returns a function that ends it
 */
export async function embed(
  element: Element,
  style: string,
  Shown: typeof Limiters | typeof Playing,
): Promise<() => void> {
  const { session, stop } = await start(limitersInPage())
  const root = element.attachShadow({ mode: 'open' })
  render(
    <>
      <style>{style}</style>
      <Shown session={session} />
    </>,
    root,
  )
  return () => {
    render(null, root)
    stop()
  }
}
