import { signal } from '@preact/signals-core'
import type { Send } from './send.ts'

let offset = 0

/** The server's clock: epoch ms, with fractions. */
export function serverNow(): number {
  return performance.timeOrigin + performance.now() + offset
}

/** How often the server is asked at a time. */
const ASKED = 5

/**
 * Sets it by what the server says, assuming that it answered halfway through the round trip:
 * by the shortest of a few ways, on which that is least wrong.
 */
export async function askForTime(send: Send): Promise<void> {
  let shortest = Number.POSITIVE_INFINITY
  let correction = 0
  for (let i = 0; i < ASKED; i += 1) {
    const asked = serverNow()
    const response = await send('/clock')
    const { now } = (await response.json()) as { now: number }
    const answered = serverNow()
    if (answered - asked < shortest) {
      shortest = answered - asked
      correction = now - (asked + answered) / 2
    }
  }
  offset += correction
}

/** The moment that is drawn: ms on the server's clock. */
export const drawnAt = signal(serverNow())

/** Draws what has just happened. */
export function drawNow(): void {
  drawnAt.value = serverNow()
}

/** How often the drawing moves by itself where motion is not wanted, ms. */
const CALM_MS = 1000

/**
 * Keeps `drawnAt` going: with each frame, or once a second for those who want no motion.
 *
 * @returns a function that stops it
 */
export function keepDrawing(): () => void {
  const calm = matchMedia('(prefers-reduced-motion: reduce)')
  let stop = () => {}
  const go = () => {
    stop()
    drawNow()
    stop = calm.matches ? everySecond() : everyFrame()
  }
  go()
  calm.addEventListener('change', go)
  return () => {
    calm.removeEventListener('change', go)
    stop()
  }
}

function everySecond(): () => void {
  const timer = setInterval(drawNow, CALM_MS)
  return () => clearInterval(timer)
}

function everyFrame(): () => void {
  let frame: number
  const draw = () => {
    drawNow()
    frame = requestAnimationFrame(draw)
  }
  draw()
  return () => cancelAnimationFrame(frame)
}
