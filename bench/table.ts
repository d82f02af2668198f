import { cpus } from 'node:os'
import type { Row } from './scenario.ts'
import type { Sizes } from './sizes.ts'

/** Where and with what a run was made, in one line. */
export function headerOf(sizes: Sizes): string {
  const processors = cpus()
  const figures = Object.entries(sizes).map(([name, size]) => `${name} ${size}`)
  return `${processors[0]?.model ?? 'unknown processor'}, ${processors.length} cores, Node.js ${process.versions.node}; ${figures.join(', ')}`
}

export function verdictOf({ measured, target }: Row): 'pass' | 'falls short' {
  return measured <= target ? 'pass' : 'falls short'
}

/** One line of the table. */
export function lineOf(row: Row): string {
  const { row: name, measured, target, unit, note = '' } = row
  const figure = `${figureOf(measured)} ${unit}`
  return `${name.padEnd(40)}${figure.padEnd(22)}≤ ${figureOf(target).padEnd(8)}${verdictOf(row).padEnd(13)}${note}`.trimEnd()
}

/** Three significant digits. */
function figureOf(value: number): string {
  if (Number.isInteger(value) || value >= 100) return value.toFixed(0)
  return String(Number(value.toPrecision(3)))
}
