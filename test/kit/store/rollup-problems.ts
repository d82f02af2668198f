import { BASELINE_CODE, finalStatusOf, LOST_CODE } from '../../../src/ledger/call-codes.ts'
import { WIDTHS } from '../../../src/history/rollups.ts'
import { seriesOf } from '../history/as-shown.ts'
import { computedColumns } from '../../../src/store/call-columns.ts'
import type { RowReader } from '../../../src/store/sql.ts'

/**
 * Where the charts of all targets together, or of one, say something else than the calls' rows. No daemon may write
 * meanwhile.
 */
export async function rollupProblems(reader: RowReader, targets: readonly string[]): Promise<string[]> {
  const rows = await reader.rows(
    `SELECT name, ${computedColumns('began', 'user_minutes', 'invited_unknown')}, invited_joined, invited_absent, finished, status, audio, participant_video FROM callwatch.targets CROSS JOIN callwatch.calls
    WHERE target = number AND status <> ${BASELINE_CODE}`,
    [],
  )
  const calls = rows.map((row) => ({
    target: String(row['name']),
    began: Number(row['began']),
    finished: row['finished'] === null ? Infinity : Number(row['finished']),
    status: Number(row['status']),
    audio: Number(row['audio']),
    participantVideo: Number(row['participant_video']),
    userMinutes: Number(row['user_minutes']),
    joined: Number(row['invited_joined']),
    absent: Number(row['invited_absent']),
    unknown: Number(row['invited_unknown']),
  }))
  const finishes = calls.map(({ finished }) => finished).filter(Number.isFinite)
  if (finishes.length === 0) return []
  const [oldest, newest] = finishes.reduce(([a, b], at) => [Math.min(a, at), Math.max(b, at)], [Infinity, -Infinity])
  const problems: string[] = []
  const asked = [undefined, ...targets.map((target) => [target])].flatMap((wanted) =>
    WIDTHS.map((step) => ({ wanted, step })),
  )
  for (const { wanted, step } of asked) {
    const own = calls.filter(({ target }) => wanted?.includes(target) !== false)
    const series = await seriesOf(reader, { from: oldest, to: newest + 1, step, targets: wanted }, newest + step)
    for (const point of series.points) {
      const at = Date.parse(point.at) / 1000
      const inStep = own.filter(({ finished }) => finished >= at && finished < at + step)
      const sum = (of: (call: (typeof own)[number]) => number) => inStep.reduce((total, call) => total + of(call), 0)
      const statuses = Object.groupBy(inStep, ({ status }) => (status === LOST_CODE ? 'lost' : finalStatusOf(status)))
      const expected = [
        ...Object.keys(point.calls).map((status) => Object.entries(statuses).find(([name]) => name === status)?.[1].length ?? 0), // oxfmt-ignore
        sum(({ audio }) => audio),
        sum(({ participantVideo }) => participantVideo),
        sum(({ userMinutes }) => userMinutes),
        ...(['joined', 'absent', 'unknown'] as const).map((outcome) => sum((call) => call[outcome])),
        own.filter(({ began, finished }) => began < at && finished >= at).length,
      ]
      const found = [
        ...Object.values(point.calls),
        point.minutes.audio,
        point.participant_minutes.video,
        point.user_minutes,
        ...Object.values(point.invited),
        point.in_progress,
      ]
      if (found.every((value, i) => Math.abs(value! - expected[i]!) < 1e-6)) continue
      problems.push(
        `${wanted?.[0] ?? 'all targets'} at ${point.at}, ${step} s: ${found.join(' ')} in the series, ${expected.join(' ')} by the rows`,
      )
    }
  }
  return problems
}
