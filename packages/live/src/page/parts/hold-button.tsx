import { useEffect, useRef } from 'preact/hooks'

/** While it is held: 8 requests a second. */
const EVERY_MS = 125

/** Acts once when it is pressed, and repeatedly while it is held: by pointer, Space or Enter. */
export function HoldButton({
  act,
  children,
}: {
  act: () => void
  children: preact.ComponentChildren
}) {
  const timer = useRef<ReturnType<typeof setInterval>>(undefined)
  const release = () => {
    clearInterval(timer.current)
    timer.current = undefined
  }
  const press = () => {
    if (timer.current !== undefined) return
    act()
    timer.current = setInterval(act, EVERY_MS)
  }
  useEffect(() => {
    // A hidden tab gets no release event.
    document.addEventListener('visibilitychange', release)
    return () => {
      document.removeEventListener('visibilitychange', release)
      release()
    }
  }, [])
  const isHolding = ({ key }: KeyboardEvent) => key === ' ' || key === 'Enter'

  return (
    <button
      type="button"
      class="send"
      onPointerDown={({ button }) => button === 0 && press()}
      onPointerUp={release}
      onPointerLeave={release}
      onPointerCancel={release}
      onContextMenu={(event) => event.preventDefault()}
      onKeyDown={(event) => {
        if (!isHolding(event)) return
        // Otherwise it would be a click as well.
        event.preventDefault()
        press()
      }}
      onKeyUp={(event) => {
        if (!isHolding(event)) return
        event.preventDefault()
        release()
      }}
      onBlur={release}
      // Screen readers click without a pointer or a key.
      onClick={({ detail }) => detail === 0 && act()}
    >
      {children}
    </button>
  )
}
