import { expect, test } from 'vitest'
import type { Message } from '../../../src/notifications/message.ts'
import { logReceiver, type LogLine } from '../../../src/notifications/log-receiver.ts'
import {
  AT,
  DAILY,
  FIRST,
  FIRING,
  messageOf,
  RESOLVED,
  SIGNALS,
  STORE_FAILING,
} from '../../kit/notifications/sample.ts'

async function logged(message: Message): Promise<LogLine[]> {
  const lines: LogLine[] = []
  const receiver = logReceiver((line) => void lines.push(line))
  await receiver.send(message)
  expect(receiver.name).toBe('log')
  return lines
}

test('each alert is a line', async () => {
  const flapped = [{ notification: SIGNALS.failure_ratio, times: 3, peak: 0.62, endedAt: AT }]
  expect(await logged(messageOf([FIRING, RESOLVED], { flapped }))).toEqual([
    {
      fields: { target: 'production', alert: 'HighFailureRate', severity: 'critical', state: 'firing' },
      text:
        'alert firing: HighFailureRate: ' +
        '17 of 40 calls that finished in the last 15m failed: 42.5%, above the threshold of 30%',
    },
    {
      fields: { target: 'production', alert: 'HighFailureRate', severity: 'critical', state: 'resolved' },
      text:
        'alert resolved: HighFailureRate: 4 of 40 calls that finished in the last 15m failed: 10%, ' +
        'back at or below 20%; peak 62.5%, lasted 1h 3m',
    },
    {
      fields: { target: 'production', alert: 'VideoRejected', severity: 'critical', state: 'flapped' },
      text:
        'alert flapped: VideoRejected (type=video) fired and ended 3 times, worst 62%, ' +
        'last resolved at 2026-11-20 08:15:30 UTC',
    },
  ])
})

test('a report is a line', async () => {
  expect(await logged(DAILY)).toEqual([
    {
      fields: {},
      level: 'info',
      text: expect.stringMatching(/^Calls on Thursday, 2026-11-19 \(Europe\/Berlin\): 1,206 calls \(\+12%\), /),
    },
  ])
  expect((await logged(FIRST))[0]!.text).toMatch(/^callwatch watches production: 1,204 calls, /)
})

test('the store is a line', async () => {
  expect(await logged(STORE_FAILING)).toEqual([
    {
      fields: { state: 'failing' },
      text: expect.stringMatching(
        /^callwatch cannot write to its store\. Since 2026-11-20 08:15:00 UTC \(30s\): database or disk/,
      ),
    },
  ])
})
