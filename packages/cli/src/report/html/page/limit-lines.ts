import { number } from '@sluice/terminal/words'
import { colour, uPlot } from '@sluice/ui/page'

const ink = colour('--ink')

/** Draws limits as labelled lines from the bottom of the chart into its upper padding. */
export function limitLines(limits: readonly { limit: number; place: number }[]): uPlot.Plugin {
  return {
    hooks: {
      draw: (chart) => {
        limits.forEach(({ limit, place }, i) => {
          drawLine(chart, place, `limit ${number(limit)}`, i)
        })
      },
    },
  }
}

function drawLine(chart: uPlot, place: number, label: string, level: number): void {
  const { ctx, bbox } = chart
  const scale = uPlot.pxRatio
  const x = Math.round(chart.valToPos(place, 'x', true))
  const top = bbox.top - (6 + 18 * level) * scale
  ctx.save()
  ctx.strokeStyle = ctx.fillStyle = ink()
  ctx.lineWidth = 1.5 * scale
  ctx.setLineDash([5 * scale, 4 * scale])
  ctx.beginPath()
  ctx.moveTo(x, bbox.top + bbox.height)
  ctx.lineTo(x, top - 8 * scale)
  ctx.stroke()
  ctx.font = `600 ${12 * scale}px system-ui, sans-serif`
  const gap = 6 * scale
  const fits = x + gap + ctx.measureText(label).width <= bbox.left + bbox.width
  ctx.textAlign = fits ? 'left' : 'right'
  ctx.textBaseline = 'middle'
  ctx.fillText(label, fits ? x + gap : x - gap, top - 4 * scale)
  ctx.restore()
}
