import uPlot from 'uplot'
import type { Chart, Period } from '../model/chart.ts'

/** CSS pixels. */
const MIN_BAND = 3
const FONT = 'system-ui, sans-serif'

/** Hatches times that are not covered. */
export function drawBlind(plot: uPlot, { blind }: Chart, colour: (name: string) => string) {
  within(plot, rectangles(plot, [{ from: plot.scales['x']?.min ?? 0, to: plot.scales['x']?.max ?? 0 }]), () =>
    within(plot, rectangles(plot, blind), () => hatch(plot, { colour: colour('other'), width: 1, distance: 9 })),
  )
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

/** The areas of some times. */
function rectangles(plot: uPlot, periods: readonly Period[]) {
  const { top, height } = plot.bbox
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
