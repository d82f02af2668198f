import uPlot from 'uplot'
import { SEVERITIES } from '../../../alerts/match-keys.ts'
import type { Bands, Chart } from '../model/chart.ts'

/** CSS pixels. */
const [STRIP, MIN_BAND] = [5, 3]
const FONT = 'system-ui, sans-serif'

/**
 * Draws times that are not covered as hatching, and those of alerts as a tint below a strip, which is in a row by severity.
 */
export function drawBands(plot: uPlot, { bands }: Chart, colour: (name: string) => string) {
  const { ctx, bbox } = plot
  within(plot, rectangles(plot, [{ from: plot.scales['x']?.min ?? 0, to: plot.scales['x']?.max ?? 0 }]), () => {
    within(plot, rectangles(plot, bands.blind), () => hatch(plot, { colour: colour('other'), width: 1, distance: 9 }))
    // In the order of their rows at the top of a chart.
    const alerts = SEVERITIES.map((severity) => ({
      periods: bands.alerts.filter((alert) => alert.severity === severity),
      fill: colour(severity),
    }))
    ctx.globalAlpha = 0.1
    for (const { periods, fill } of alerts) {
      ctx.fillStyle = fill
      ctx.fill(rectangles(plot, periods))
    }
    ctx.globalAlpha = 1
    const height = STRIP * uPlot.pxRatio
    alerts.forEach(({ periods, fill }, row) => {
      ctx.fillStyle = fill
      ctx.fill(rectangles(plot, periods, bbox.top + row * height * 1.2, height))
    })
  })
}

/** Hatches the bars of a step that has not ended. */
export function drawIncomplete(plot: uPlot, { times, step, complete, series }: Chart, colour: string) {
  const at = times[complete]
  if (at === undefined || series.every(({ shape }) => shape !== 'bar')) return
  within(plot, rectangles(plot, [{ from: at, to: at + step }]), () => hatch(plot, { colour, width: 1.5, distance: 7 }))
}

export function drawThresholds(plot: uPlot, { thresholds = [] }: Chart, colour: (name: string) => string) {
  const { ctx, bbox } = plot
  const px = uPlot.pxRatio
  let labelled = Infinity
  ctx.save()
  ctx.font = `${11 * px}px ${FONT}`
  ctx.textAlign = 'right'
  ctx.lineJoin = 'round'
  for (const { name, value, severity } of thresholds.toSorted((a, b) => a.value - b.value)) {
    const y = Math.round(plot.valToPos(value, 'y', true))
    ctx.fillStyle = colour(severity)
    ctx.fillRect(bbox.left, y, bbox.width, Math.round(1.5 * px))
    // The legend has the names for which there is no place.
    if (labelled - y < 14 * px) continue
    const [right, bottom] = [bbox.left + bbox.width - 4 * px, y - 5 * px]
    // Readable above what is drawn below it.
    ctx.strokeStyle = colour('card')
    ctx.lineWidth = 3 * px
    ctx.strokeText(name, right, bottom)
    ctx.fillText(name, right, bottom)
    labelled = y
  }
  ctx.restore()
}

/** The areas of some times: as high as the plot, unless another height is given. */
function rectangles(plot: uPlot, periods: Bands['blind'], top = plot.bbox.top, height = plot.bbox.height) {
  const path = new Path2D()
  for (const { from, to } of periods) {
    const [left, right] = [plot.valToPos(from, 'x', true), plot.valToPos(to, 'x', true)]
    path.rect(left, top, Math.max(MIN_BAND * uPlot.pxRatio, right - left), height)
  }
  return path
}

function within({ ctx }: uPlot, path: Path2D, draw: () => void) {
  ctx.save()
  ctx.clip(path)
  draw()
  ctx.restore()
}

/**
 * Draws diagonal lines.
 *
 * @param look CSS pixels
 */
function hatch(
  { ctx, bbox: { left, top, width, height } }: uPlot,
  { colour, width: thick, distance }: { colour: string; width: number; distance: number },
) {
  const px = uPlot.pxRatio
  ctx.strokeStyle = colour
  ctx.lineWidth = thick * px
  ctx.beginPath()
  for (let x = left - height; x < left + width; x += distance * px) {
    ctx.moveTo(x, top + height)
    ctx.lineTo(x + height, top)
  }
  ctx.stroke()
}
