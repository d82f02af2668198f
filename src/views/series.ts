import * as z from 'zod'
import { isoTime } from '../clock/times.ts'
import type { Coverage } from '../history/coverage.ts'
import type { Series } from '../history/series.ts'
import { addAll, histogram, type Sums } from '../history/sums.ts'
import { coverage, coverageView, figures, figuresView, percentiles } from './report.ts'
import { byOutcome, count, namedObject, time } from './shapes.ts'

const sums = z.object({ ...figures.shape, answer_delay_seconds: percentiles })
const point = z.object({
  at: time.describe('When the step began'),
  ...sums.shape,
  in_progress: count.nullable().describe('When the step began; null where it is not known'),
})
export type SeriesPoint = z.output<typeof point>

const ofAll = { points: z.array(point), total: sums.describe('Of all points together') }

/** What finished in each step of a period, how many calls were in progress, and when its targets were not seen. */
export const series = namedObject('Series', {
  since: time,
  until: time,
  step_seconds: count,
  ...ofAll,
  groups: z
    .array(z.object({ name: z.string().nullable().describe('Null: all others'), ...ofAll }))
    .optional()
    .describe('With `by`: the seven groups with most calls, and all others together'),
  coverage,
})
export type SeriesView = z.output<typeof series>

export function seriesView({ from, to, step, points, groups }: Series, coverage: Coverage): SeriesView {
  const viewOf = (some: Series['points']) => ({
    points: some.map(({ sums, inProgress }, i) => {
      return { at: isoTime(from + i * step), ...sumsView(sums), in_progress: inProgress }
    }),
    total: sumsView(totalOf(some)),
  })
  return {
    since: isoTime(from),
    until: isoTime(to),
    step_seconds: step,
    ...viewOf(points),
    ...(groups.length > 0 && { groups: groups.map(({ name = null, points }) => ({ name, ...viewOf(points) })) }),
    coverage: coverageView(coverage),
  }
}

const sumsView = (sums: Sums) => ({
  ...figuresView(sums),
  answer_delay_seconds: histogram(sums, 'answerDelay').percentiles,
})

function totalOf(points: Series['points']): Sums {
  const total: Sums = new Map()
  for (const { sums } of points) addAll(total, sums)
  return total
}

const blind = z.array(z.object({ since: time, until: time })).describe('Times that are not covered, in whole minutes')
const perMinute = z.array(count.nullable().describe('Null where it is not known yet'))

/** How many calls finished in each of the last minutes, by target and final status, oldest first. */
export const finishedPerMinute = z.object({
  since: time,
  step_seconds: count,
  targets: z.array(z.object({ name: z.string(), ...byOutcome(() => perMinute), blind: blind.optional() })),
})
export type FinishedPerMinute = z.output<typeof finishedPerMinute>
