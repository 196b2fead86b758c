import type { uPlot } from '@sluice/ui/page'

/** The steps of a horizontal axis. */
export interface Steps {
  /** @param x the place on the axis, within it or not */
  stepAt(x: number): number
  /** The middle of a step on the axis. */
  middleOf(step: number): number
  /** The text of screen readers at a position of the slider. */
  nameOf(step: number): string
}

export interface Scrub {
  /** The cursor of charts that have a slider. */
  readonly cursor: uPlot.Cursor
  attach(charts: readonly uPlot[]): void
}

/**
 * Joins charts of the same steps to a slider: the place under the mouse and that of the slider,
 * which keyboard and touch move, are one.
 *
 * @param slider its element stands after the one that says which step is looked at
 * @param show shows a step; called with undefined when the mouse has left
 */
export function createScrub(
  slider: HTMLInputElement,
  steps: Steps,
  show: (step: number | undefined) => void,
): Scrub {
  const label = slider.previousElementSibling!
  const invitation = label.textContent
  let joined: readonly uPlot[] = []

  function moveTo(step: number | undefined, from?: uPlot): void {
    for (const chart of joined) {
      if (chart === from) continue
      const left = step === undefined ? -10 : chart.valToPos(steps.middleOf(step), 'x')
      chart.setCursor({ left, top: step === undefined ? -10 : 0 }, false)
    }
    label.textContent = step === undefined ? invitation : steps.nameOf(step)
    if (step !== undefined) {
      slider.value = String(step)
      slider.setAttribute('aria-valuetext', steps.nameOf(step))
    }
    show(step)
  }

  slider.setAttribute('aria-valuetext', steps.nameOf(0))
  slider.addEventListener('input', () => moveTo(Number(slider.value)))

  return {
    cursor: {
      y: false,
      points: { show: false },
      drag: { x: false, y: false },
      move: (chart, left, top) => {
        if (left < 0) return [left, top]
        const step = steps.stepAt(chart.posToVal(left, 'x'))
        return [chart.valToPos(steps.middleOf(step), 'x'), top]
      },
    },
    attach(charts) {
      joined = charts
      for (const chart of charts) {
        const follow = ({ cursor: { left = -1 } }: uPlot) => {
          moveTo(left < 0 ? undefined : steps.stepAt(chart.posToVal(left, 'x')), chart)
        }
        chart.hooks.setCursor = [follow]
      }
    },
  }
}
