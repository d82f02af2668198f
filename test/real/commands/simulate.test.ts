import { parse } from 'yaml'
import { expect, onTestFinished, test, vi } from 'vitest'
import { callsOf } from '../../../src/commands/simulate.ts'
import { bursts } from '../../../src/simulator/bursts.ts'
import { callwatch, startHere } from '../../kit/commands/callwatch.ts'

const days = (count: number) => ({ seconds: count * 86_400 })

test.each([
  ['a number of calls', { history: 7 }, { history: 7, callsPerMinute: 30 }],
  ['a short duration', { history: days(1) }, { history: 43_200, historySeconds: 86_400, callsPerMinute: 30 }],
  [
    'a long duration: as many calls as can be, and as often afterwards',
    { history: days(100) },
    { history: 50_000, historySeconds: 8_640_000, callsPerMinute: 50_000 / 144_000 },
  ],
  [
    'a long duration and the requested number of calls',
    { history: days(100), callsPerMinute: 0.1 },
    { history: 14_400, historySeconds: 8_640_000, callsPerMinute: 0.1 },
  ],
  [
    'fewer calls than were requested for such a duration',
    { history: days(100), callsPerMinute: 3 },
    { history: 50_000, historySeconds: 8_640_000, callsPerMinute: 3 },
  ],
  [
    'a duration too short for a call',
    { history: { seconds: 1 }, callsPerMinute: 1 },
    { history: 1, historySeconds: 1, callsPerMinute: 1 },
  ],
])('simulate has %s', (_what, options, calls) => {
  const weekly = typeof options.history === 'number' ? {} : { weekly: true }
  expect(callsOf(options)).toEqual({ ...calls, ...weekly })
})

test.each(['35', '35d', '12h'])('simulate accepts a history of %s', async (history) => {
  // The port is wrong, and no simulator starts.
  const { stderr } = await callwatch(['simulate', '--history', history, '--port', 'none'])
  expect(stderr).toContain('--port')
})

test('simulate says how its history counts', async () => {
  const running = startHere(['simulate', '--port', '0', '--history', '36h', '--calls-per-minute', '1'])
  await running.printed(/^with history: {2}poll: \{ lookback: 2d \} in its configuration/m)
})

test('simulate says nothing of a history that counts by default', async () => {
  const running = startHere(['simulate', '--port', '0', '--history', '1d', '--calls-per-minute', '1'])
  await running.printed(/^configuration: /m)
  running.kill('SIGTERM')
  expect((await running.ended).stdout).not.toContain('with history')
})

test.each(['0d', '35w', '-1', '1.5', ''])('simulate refuses a history of "%s"', async (history) => {
  const { code, stderr } = await callwatch(['simulate', `--history=${history}`])
  expect(code).toBe(2)
  expect(stderr).toContain('It must be a whole number, 0 or more, or a duration such as 12h or 35d.')
})

type Target = { name: string; base_url: string; api_key: string }

/** The targets of the configuration that the simulator offers, and the session ids that each of them lists. */
async function simulated(...args: string[]) {
  const running = startHere(['simulate', '--port', '0', '--history', '5', '--no-arrivals', ...args])
  const [, url] = await running.printed(/^configuration: curl (\S+) > simulated\.yaml; then callwatch run --config /m)
  const { targets }: { targets: Target[] } = parse(await (await fetch(url!)).text())
  const listed = targets.map(async ({ base_url: base, api_key: apikey }) => {
    const { data }: { data: { sessionId: string }[] } = JSON.parse(
      await (await fetch(`${base}/calls`, { headers: { apikey } })).text(),
    )
    return data.map(({ sessionId }) => sessionId).toSorted()
  })
  return { names: targets.map(({ name }) => name), listed: await Promise.all(listed), stdout: running.stdout() }
}

test('simulate --targets has calls of its own for each of its targets, the same for the same seed', async () => {
  const { names, listed, stdout } = await simulated('--targets', '12')
  expect(names).toEqual(Array.from({ length: 12 }, (_, i) => `app-${String(i + 1).padStart(2, '0')}`))
  expect(stdout).toMatch(/^calls service: http:\S+\/app-01\/v3, … http:\S+\/app-12\/v3$/m)
  expect(new Set(listed.flat()).size).toBe(listed.flat().length)
  expect(listed.map(({ length }) => length)).toEqual(Array.from({ length: 12 }, () => 8))
  expect((await simulated('--targets', '12')).listed).toEqual(listed)
  expect((await simulated('--targets', '12', '--seed', '2')).listed).not.toEqual(listed)
  expect(await simulated()).toMatchObject({ names: ['simulated'], stdout: expect.stringContaining('monitor with:') })
})

test('simulate --burst lets that part of the calls fail on all targets for 5 of every 30 minutes', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const all = [{ burst: vi.fn() }, { burst: vi.fn() }, { burst: vi.fn() }]
  const bursting = bursts(all, 75, { callsPerMinute: 20 })
  const times = () => all.map(({ burst }) => burst.mock.calls.length)
  vi.advanceTimersByTime(0)
  expect(times()).toEqual([1, 0, 0])
  vi.advanceTimersByTime(40_000)
  expect(times()).toEqual([1, 1, 1])
  // Of 400 calls 300 fail.
  expect(all[0]!.burst).toHaveBeenCalledWith({ calls: 300, seconds: 300 })
  vi.advanceTimersByTime(1_800_000)
  expect(times()).toEqual([2, 2, 2])
  bursting.unsubscribe()
  vi.advanceTimersByTime(1_800_000)
  expect(times()).toEqual([2, 2, 2])
})
