const HOUR = 3600
const MINUTE = 60

/** A day and time of the history, as seconds since its start at midnight. */
export function moment(day: number, time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return day * 24 * HOUR + hours * HOUR + minutes * MINUTE
}

/** A period of the history (seconds since its start). */
export type Period = { from: number; to: number }

function period(day: number, from: string, to: string): Period {
  return { from: moment(day, from), to: moment(day, to) }
}

/** The history has a week, which NoCalls compares with, and two more days. */
export const LASTS = moment(8, '15:00')

/** For most of the week there are no calls and the daemon is down, which saves evaluations. */
export const CLOSED: Period = { from: moment(1, '00:00'), to: moment(6, '23:00') }

/** Shares of the calls of mode `call` that fail; at other times the usual share fails. */
export const FAILURES: readonly (Period & { share: number })[] = [
  { ...period(0, '02:00', '04:00'), share: 0.9 },
  // Past the threshold of the warning, then of the critical alert, and back.
  { ...period(0, '09:00', '09:25'), share: 0.45 },
  { ...period(0, '09:25', '09:55'), share: 0.85 },
  // Past the threshold, then between threshold and clear for hours.
  { ...period(0, '14:00', '14:25'), share: 0.5 },
  { ...period(0, '14:25', '17:00'), share: 0.26 },
  // Into the night, with too few calls for an evaluation.
  { ...period(0, '20:30', '23:59'), share: 0.8 },
  // With outages while the alert fires, while it recovers, while it is pending, ...
  { ...period(7, '08:00', '09:00'), share: 0.7 },
  { ...period(7, '14:00', '14:30'), share: 0.7 },
  { ...period(7, '15:00', '16:00'), share: 0.6 },
  // ... and with one longer than the window.
  { ...period(7, '17:30', '18:30'), share: 0.7 },
  // An evening with just about enough calls for an evaluation.
  { ...period(7, '19:30', '23:00'), share: 0.6 },
  // Close to the thresholds, with restarts of the daemon.
  { ...period(8, '09:00', '12:00'), share: 0.31 },
  { ...period(8, '13:00', '14:00'), share: 0.5 },
]

/** There are no calls. */
export const SILENT: readonly Period[] = [CLOSED, period(7, '10:00', '12:10')]

/** Answered calls that stay open for hours. */
export const STUCK: readonly Period[] = [period(0, '08:00', '13:00'), period(8, '06:30', '11:30')]

/** Every poll fails. */
export const OUTAGES: readonly Period[] = [
  // From the first poll on.
  period(0, '00:00', '00:09'),
  // While StuckCalls fires.
  period(0, '11:20', '11:30'),
  period(7, '03:00', '03:02'),
  period(7, '08:30', '08:40'),
  // While there are no calls.
  period(7, '11:30', '11:40'),
  period(7, '14:38', '14:48'),
  period(7, '15:07', '15:09'),
  period(7, '15:40', '15:42'),
  period(7, '17:50', '18:15'),
]

/** The daemon is down, and continues from its store afterwards. */
export const RESTARTS: readonly Period[] = [
  period(0, '12:00', '12:01'),
  CLOSED,
  period(7, '11:50', '11:51'),
  period(8, '10:20', '10:23'),
  // Long enough for NoGoodPoll to fire.
  period(8, '10:40', '10:48'),
]

/** Whether a time is in one of the periods, their ends excluded. */
export function isIn(periods: readonly Period[], time: number): boolean {
  return periods.some(({ from, to }) => time >= from && time < to)
}
