import { expect, test } from 'vitest'
import { isoTime } from '../../../src/clock/times.ts'
import { finish, finishedCall, NOW } from '../../kit/metrics/hand-made-target.ts'
import { serve, shownTarget } from '../../kit/web/serve.ts'

const HOUR = 3600

/** What the API says of the last hour, with a call that ended ten minutes ago by the clock of its service. */
async function lastHour(clockSkews: Record<string, number>, more = '') {
  const history = Object.entries(clockSkews).map(([target, skew]) => {
    const at = NOW + skew - 600
    return { target, call: finishedCall(`of ${target}`, { endedAt: at, finish: { ...finish('ended'), at } }) }
  })
  const targets = Object.keys(clockSkews).map((target) => shownTarget({ target }))
  const { url } = await serve(targets, { history, clockSkews, created: NOW - 86_400 })
  const ask = async (path: string) => JSON.parse(await (await fetch(`${url}/api/v1/${path}?since=1h${more}`)).text())
  const [report, series, { calls }] = [await ask('report'), await ask('series'), await ask('calls')]
  return {
    report: [report.since, report.until, report.total.calls.ended],
    series: [
      series.until,
      series.points.reduce((sum: number, point: typeof report.total) => sum + point.calls.ended, 0),
    ],
    coverage: report.coverage.blind.map(({ until }: { until: string }) => until),
    calls: calls.map(({ target }: { target: string }) => target),
  }
}

test.each([-3 * HOUR, -HOUR / 2, 0, 3 * HOUR])(
  'the last hour ends now by the clock of the service, which is %i s ahead of the host',
  async (skew) => {
    const now = NOW + skew
    expect(await lastHour({ a: skew })).toEqual({
      report: [isoTime(now - HOUR), isoTime(now), 1],
      // Few calls have steps of five minutes.
      series: [isoTime(Math.ceil(now / 300) * 300), 1],
      coverage: [isoTime(now)],
      calls: ['a'],
    })
  },
)

test('the last hour of several targets is that of the earliest clock, so that each has its last hour', async () => {
  const clockSkews = { a: 0, b: -3 * HOUR }
  expect(await lastHour(clockSkews)).toMatchObject({
    report: [isoTime(NOW - 4 * HOUR), isoTime(NOW), 2],
    calls: ['a', 'b'],
  })
  expect(await lastHour(clockSkews, '&target=a')).toMatchObject({
    report: [isoTime(NOW - HOUR), isoTime(NOW), 1],
    calls: ['a'],
  })
})
