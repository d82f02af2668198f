import * as z from 'zod'
import { isoTime } from '../clock/times.ts'
import type { Coverage } from '../history/coverage.ts'
import type { Series } from '../history/series.ts'
import { histogram } from '../history/sums.ts'
import { coverage, coverageView, figures, figuresView, percentiles } from './report.ts'
import { byOutcome, count, namedObject, time } from './shapes.ts'

const point = z.object({
  at: time.describe('When the step began'),
  ...figures.shape,
  answer_delay_seconds: percentiles,
  in_progress: count.nullable().describe('When the step began; null where it is not known'),
})
export type SeriesPoint = z.output<typeof point>

/** What finished in each step of a period, how many calls were in progress, and when its targets were not seen. */
export const series = namedObject('Series', {
  since: time,
  until: time,
  step_seconds: count,
  points: z.array(point),
  coverage,
})
export type SeriesView = z.output<typeof series>

export function seriesView({ from, to, step, points }: Series, coverage: Coverage): SeriesView {
  return {
    since: isoTime(from),
    until: isoTime(to),
    step_seconds: step,
    points: points.map(({ sums, inProgress }, i) => ({
      at: isoTime(from + i * step),
      ...figuresView(sums),
      answer_delay_seconds: histogram(sums, 'answerDelay').percentiles,
      in_progress: inProgress,
    })),
    coverage: coverageView(coverage),
  }
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
