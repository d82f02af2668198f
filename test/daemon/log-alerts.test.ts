import { pino } from 'pino'
import { expect, test } from 'vitest'
import { logAlerts } from '../../src/daemon/log-alerts.ts'
import { at, evaluatedTarget, INTERVAL } from '../alerts/evaluated-target.ts'
import { RATIO } from '../alerts/sample-rules.ts'

test('each change of state of an alert is one line, with target, alert, value and threshold', () => {
  const lines: Record<string, unknown>[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const target = evaluatedTarget([{ ...RATIO, for: 2 * INTERVAL, keepFiringFor: INTERVAL, repeat: INTERVAL }])
  // Of twenty calls so many failed: it is pending, fires, is notified again, resolves, and is pending once more.
  const failed = [2, 10, 11, 12, 13, 14, 0, 0, 0, 10, 0]
  for (const [i, each] of failed.entries()) logAlerts(log, 'production', target.poll(at(i * INTERVAL), each))
  const fields = { level: 30, target: 'production', alert: 'HighFailureRate', labels: {}, severity: 'warning' }
  expect(lines).toMatchObject([
    { ...fields, state: 'pending', value: 0.5, threshold: 0.3 },
    { ...fields, state: 'firing', value: 0.6, threshold: 0.3 },
    { ...fields, state: 'resolved', value: 0, threshold: 0.2 },
    { ...fields, state: 'pending', value: 0.5, threshold: 0.3 },
    { ...fields, state: 'inactive', value: 0.5, threshold: 0.3 },
  ])
  expect(lines.map(({ msg }) => msg)).toEqual([
    'alert HighFailureRate on production is pending: 50%, threshold 30% (above)',
    'alert HighFailureRate on production is firing: 12 of 20 calls that finished in the last 15m failed: 60%, above the threshold of 30%',
    'alert HighFailureRate on production has resolved: 0 of 20 calls that finished in the last 15m failed: 0%, back at or below 20%; peak 70%, lasted 1m',
    'alert HighFailureRate on production is pending: 50%, threshold 30% (above)',
    'alert HighFailureRate on production is no longer pending, and was last at: 50%, threshold 30% (above)',
  ])
})

test('what a removed rule leaves behind is a line', () => {
  const lines: Record<string, unknown>[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const target = evaluatedTarget([RATIO])
  target.poll(at(0), 10)
  target.reload([])
  logAlerts(log, 'production', target.poll(at(INTERVAL), 10))
  expect(lines).toMatchObject([{ level: 30, target: 'production', alert: 'HighFailureRate', state: 'closed' }])
})
