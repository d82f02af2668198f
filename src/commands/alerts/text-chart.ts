import { formatTime } from '../../text/format.ts'

export type Chart = {
  /** Times (UNIX seconds, ascending) with their values, 0 or more. */
  values: readonly (readonly [at: number, value: number])[]
  /** The first and the last time on the chart. */
  from: number
  to: number
  threshold: number
  /** On which side of the threshold values are worse. Each column shows the worst of its values. */
  breach: 'above' | 'below'
  format: (value: number) => string
}

const WIDTH = 80
const ROWS = 6
/** Eighths of a row. */
const BARS = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']

/**
 * Draws values as bars against a threshold, as plain text in 80 columns. A column without a value is empty. The threshold,
 * the largest value, 0, and both ends of the time are labelled.
 */
export function chartLines({ values, from, to, threshold, breach, format }: Chart): string[] {
  const top = values.reduce((most, [, value]) => Math.max(most, value), threshold)
  if (top === 0) return []
  const thresholdRow = Math.min(ROWS - 1, Math.floor((threshold / top) * ROWS))
  // If two labels are in one row, the threshold is more important.
  const labels = Array.from({ length: ROWS }, (_, row) =>
    row === thresholdRow ? format(threshold) : row === ROWS - 1 ? format(top) : row === 0 ? format(0) : '',
  )
  const margin = Math.max(...labels.map(({ length }) => length))
  const columns = columnsOf(values, { from, to, breach }, WIDTH - margin - 2)
  const rows = labels.map((label, row) => {
    const isThreshold = row === thresholdRow
    const cells = columns.map((value) => {
      // A value of 0 is visible as well.
      const eighths = value === undefined ? 0 : Math.max(1, Math.ceil((value / top) * ROWS * 8)) - row * 8
      const bar = BARS[Math.max(0, Math.min(8, eighths))]!
      return isThreshold && bar === ' ' ? '─' : bar
    })
    return `${label.padStart(margin)} ${isThreshold ? '┼' : '│'}${cells.join('')}`.trimEnd()
  })
  const [first, last] = [formatTime(from), formatTime(to)]
  const axis = `${' '.repeat(margin + 2)}${first}${last.padStart(Math.max(last.length + 1, columns.length - first.length))}`
  return [...rows.toReversed(), axis]
}

/** The worst value of each of the equal parts of the time. */
function columnsOf(
  values: Chart['values'],
  { from, to, breach }: Pick<Chart, 'from' | 'to' | 'breach'>,
  count: number,
): (number | undefined)[] {
  const columns = Array.from<number | undefined>({ length: count })
  const worse = breach === 'above' ? Math.max : Math.min
  for (const [at, value] of values) {
    const column = to === from ? 0 : Math.min(count - 1, Math.floor(((at - from) / (to - from)) * count))
    columns[column] = worse(columns[column] ?? value, value)
  }
  return columns
}
