import { signal } from '@preact/signals'

let offset = 0

/** The server's clock: epoch ms, with fractions. */
export function serverNow(): number {
  return performance.timeOrigin + performance.now() + offset
}

/** Sets it by what the server says, which is taken to be of the middle of the way there and back. */
export async function askForTime(): Promise<void> {
  const asked = serverNow()
  const response = await fetch('/clock', { cache: 'no-store' })
  const { now } = (await response.json()) as { now: number }
  offset += now - (asked + serverNow()) / 2
}

/** The moment that is drawn: ms on the server's clock. */
export const drawnAt = signal(serverNow())

/** How often the drawing moves where motion is not wanted, ms. */
const CALM_MS = 1000

/** Keeps `drawnAt` going: with each frame, or once a second for those who want no motion. */
export function keepDrawing(): void {
  const calm = matchMedia('(prefers-reduced-motion: reduce)')
  let next = 0
  const draw = () => {
    const now = serverNow()
    if (!calm.matches || now >= next || now < next - CALM_MS) {
      drawnAt.value = now
      next = now + CALM_MS
    }
    requestAnimationFrame(draw)
  }
  draw()
}
