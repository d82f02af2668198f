import { describe, expect, test } from 'vitest'
import type { SeriesView } from '../../../src/views/series.ts'
import { finish, finishedCall, NOW, openCall } from '../../kit/metrics/hand-made-target.ts'
import { serve, shownTarget } from '../../kit/web/serve.ts'

const over = (target: string, id: string, secondsAgo: number) => ({
  target,
  call: finishedCall(id, { endedAt: NOW - secondsAgo, finish: { ...finish('ended'), at: NOW - secondsAgo } }),
})
const history = [
  over('production', 'a', 10),
  over('production', 'b', 90_000),
  over('staging', 'c', 20),
  { target: 'production', call: openCall('open', { initiatedAt: NOW - 7200 }) },
]

async function ask(parameters: string, calls = history, configured?: { name: string; appId: string }[]) {
  const { url } = await serve([shownTarget()], { history: calls, ...(configured && { configured: () => configured }) })
  const response = await fetch(`${url}/api/v1/series?${parameters}`)
  const answer: SeriesView & { detail: string } = JSON.parse(await response.text())
  return { status: response.status, answer }
}

describe('/api/v1/series', () => {
  test('has points at whole steps, and when targets were not seen', async () => {
    const { answer } = await ask(`since=${NOW - 86_400}&until=${NOW}&step=3600&target=production`)
    const { points } = answer
    expect(answer).toMatchObject({ step_seconds: 3600, coverage: { blind: expect.any(Array) } })
    expect(Date.parse(answer.since) / 1000).toBe(Math.floor((NOW - 86_400) / 3600) * 3600)
    expect(Date.parse(answer.until) / 1000).toBe(Math.ceil(NOW / 3600) * 3600)
    expect(points.at(-1)).toMatchObject({ calls: { ended: 1 }, in_progress: 1, minutes: { audio: 0.5, video: 0 } })
    expect(points.map(({ calls }) => calls.ended).reduce((a, b) => a + b)).toBe(1)
    expect(points.filter((point) => point.in_progress === 1).length).toBeLessThanOrEqual(2)
  })

  test('selects calls by their labels', async () => {
    const ended = async (more: string) => {
      const { answer } = await ask(`since=${NOW - 200_000}&until=${NOW}&${more}`)
      return answer.points.reduce((sum, { calls }) => sum + calls.ended, 0)
    }
    expect(await Promise.all(['', 'target=staging', 'type=audio', 'type=video', 'mode=meet', 'receiver_type=user'].map(ended))).toEqual([3, 1, 3, 0, 0, 3]) // oxfmt-ignore
  })

  test.each([
    ['1h', 3, 300],
    ['24h', 3, 3600],
    ['7d', 3, 21_600],
    ['35d', 3, 86_400],
    ['300d', 3, 86_400],
    // Thirty a step of a quarter of an hour, and one fewer.
    ['24h', 2880, 900],
    ['24h', 2879, 3600],
    ['7d', 3600, 10_800],
    ['1h', 1800, 60],
  ])(
    'of %s with %i calls has steps of %i seconds, so that a step has thirty calls if it can',
    async (since, n, step) => {
      const many = Array.from({ length: n }, (_, i) => over('production', `many-${i}`, 10))
      const { answer } = await ask(`since=${since}`, many)
      expect(answer.step_seconds).toBe(step)
      expect(answer.total.calls.ended).toBe(n)
    },
  )

  test('has the totals of all points, whose percentiles and ratios are those of all calls', async () => {
    const failed = (id: string, secondsAgo: number) => {
      const at = NOW - secondsAgo
      return { target: 'production', call: finishedCall(id, { finish: { ...finish('rejected'), at } }) }
    }
    const { answer } = await ask(`since=2h`, [
      ...['a', 'b', 'c'].map((id) => over('production', id, 10)),
      ...['d', 'e'].map((id) => failed(id, 5000)),
    ])
    // No step has enough calls for a ratio.
    expect(answer.points.every(({ failure_ratio: ratio }) => ratio === null)).toBe(true)
    expect(answer.total).toMatchObject({ calls: { ended: 3, rejected: 2 }, failure_ratio: 0.4 })
    expect(answer.groups).toBeUndefined()
  })

  test('is split by target, the largest first, and by app', async () => {
    const of = (target: string, calls: number) =>
      Array.from({ length: calls }, (_, i) => over(target, `${target}-${i}`, 10 + 60 * i))
    const names = Array.from({ length: 10 }, (_, i) => `t${i}`)
    const open = { target: 't9', call: openCall('open', { initiatedAt: NOW - 3000 }) }
    const calls = [...names.flatMap((name, i) => of(name, i + 1)), open]
    const { answer } = await ask('since=2h&by=target', calls)
    const groups = answer.groups!
    expect(groups.map(({ name, total }) => [name, total.calls.ended])).toEqual([
      ...['t9', 't8', 't7', 't6', 't5', 't4', 't3'].map((name, i) => [name, 10 - i]),
      [null, 6],
    ])
    expect(groups.map(({ points }) => points.at(-1)!.in_progress)).toEqual([1, 0, 0, 0, 0, 0, 0, 0])
    const { answer: all } = await ask('since=2h', calls)
    expect(answer).toEqual({ ...all, groups })
    const apps = await ask('since=2h&by=app&target=t1,t2', calls, [
      { name: 't1', appId: 'a' },
      { name: 't2', appId: 'a' },
    ])
    expect(apps.answer.groups!.map(({ name, total }) => [name, total.calls.ended])).toEqual([['a', 5]])
    const audio = await ask('since=2h&by=target&type=video', calls)
    expect(audio.answer.groups!.map(({ total }) => total.calls.ended)).toEqual([0, 0, 0, 0, 0, 0, 0, 0])
  })

  test.each([
    ['2h', 60],
    ['4h', 900],
  ])('of %s in which more than 15,000 calls finished has steps of %i seconds', async (since, step) => {
    const many = Array.from({ length: 15_001 }, (_, i) => over('production', `many-${i}`, 10))
    const { answer } = await ask(`since=${since}`, many)
    expect(answer.step_seconds).toBe(step)
    expect(answer.points.every(({ in_progress: calls }) => calls !== null)).toBe(true)
  })

  test('knows the calls in progress of a short time after which many finished', async () => {
    const many = Array.from({ length: 15_001 }, (_, i) => over('production', `many-${i}`, 10))
    const { answer } = await ask(`since=${NOW - 7200}&until=${NOW - 3600}`, many)
    expect([answer.step_seconds, answer.points[0]!.in_progress]).toEqual([300, expect.any(Number)])
  })

  test.each([
    ['since=soon', 'expected a date such as'],
    ['since=7d&step=61', 'step must be one of 60, 300, 900'],
    ['since=0', 'a series has at most 1500 points'],
    ['since=0&until=9999-12-31', 'a series has at most 1500 points'],
    ['since=7d&step=60', 'a series has at most 1500 points: take a larger step'],
    ['since=7d&target=nope', 'there is no target nope'],
    ['since=7d&type=fax', 'type must be one of audio, video, other'],
    ['since=7d&by=day', 'by'],
    ['', 'since is required'],
  ])('%s is refused with a sentence', async (parameters, sentence) => {
    const { status, answer } = await ask(parameters)
    expect([status, answer.detail]).toEqual([400, expect.stringContaining(sentence)])
  })
})
