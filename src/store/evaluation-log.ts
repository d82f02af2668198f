import type { EvaluationRecord } from '../alerts/trigger.ts'

/** Each row of the log holds one hour. */
export const HOUR = 3600

/** The start of the hour that an evaluation belongs to (UNIX seconds). */
export function hourOf({ at }: EvaluationRecord): number {
  return Math.floor(at / HOUR) * HOUR
}

/** An evaluation as a short text to append to the row of its hour. Times are whole milliseconds since the start of the hour. */
export function packEvaluation(evaluated: EvaluationRecord): string {
  const since = (time: number) => Math.round((time - hourOf(evaluated)) * 1000)
  const { at } = evaluated
  if (evaluated.kind === 'tick') return `t${since(at)},${Math.round(evaluated.pollAge * 1000)};`
  const { now, previousSuccess, limited } = evaluated
  const before = previousSuccess === undefined ? '' : since(previousSuccess)
  return `${limited ? 'l' : 'w'}${since(at)},${since(now)},${before};`
}

/** Reads the evaluations of an hour's row, in order. */
export function unpackEvaluations(hour: number, data: string): EvaluationRecord[] {
  const time = (milliseconds: string | undefined) => (hour * 1000 + Number(milliseconds)) / 1000
  return data
    .split(';')
    .slice(0, -1)
    .map((entry) => {
      const [first, second, third] = entry.slice(1).split(',')
      const at = time(first)
      if (entry.startsWith('t')) return { kind: 'tick', at, pollAge: Number(second) / 1000 }
      const previousSuccess = third === '' ? undefined : time(third)
      return { kind: 'poll', at, now: time(second), previousSuccess, limited: entry.startsWith('l') }
    })
}
