import { expect, test } from 'vitest'
import { callsOf } from '../../src/commands/simulate.ts'
import { callwatch, start } from './callwatch.ts'

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
  const running = start(['simulate', '--port', '0', '--history', '36h', '--calls-per-minute', '1'])
  await running.printed(/^with history: {2}poll: \{ baseline: count, lookback: 2d \} in its configuration/m)
})

test.each(['0d', '35w', '-1', '1.5', ''])('simulate refuses a history of "%s"', async (history) => {
  const { code, stderr } = await callwatch(['simulate', `--history=${history}`])
  expect(code).toBe(2)
  expect(stderr).toContain('It must be a whole number, 0 or more, or a duration such as 12h or 35d.')
})
