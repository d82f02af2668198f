import type { Child } from './child.ts'
import type { Sizes } from './sizes.ts'

/** One row of the table: what was measured is to be at most the target, both in the same unit. */
export type Row = { row: string; measured: number; target: number; unit: string; note?: string }

/** One kind of work, measured for one or several rows. */
export type Scenario = { name: string; rows: readonly string[]; run: (bench: Bench) => Promise<Row[]> }

/** What every scenario is given. */
export type Bench = {
  sizes: Sizes
  /** On disk; removed at the end. */
  folder: string
  /** When the scenario began: the moment around which its worlds are made (UNIX seconds, whole). */
  now: number
  /** Starts a program of `processes/` that ends with the scenario, at the latest. */
  start: (program: string, options: object, execArgv?: string[]) => Promise<Child>
}

/** The middle one; of an even number the higher of both. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

/** Runs the same thing so many times, one after the other. */
export async function times<T>(count: number, work: (round: number) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (let round = 0; round < count; round++) results.push(await work(round))
  return results
}

/** The value that so large a part of them does not exceed (nearest rank). */
export function percentile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * part) - 1)]!
}
