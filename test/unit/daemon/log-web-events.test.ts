import { pino } from 'pino'
import { expect, test } from 'vitest'
import { logWebEvents } from '../../../src/daemon/reporting/log-web-events.ts'
import { metricsOf } from '../../../src/metrics/registry.ts'

test('failed log-ins and changes of silences are logged with the peer, and counted; refused log-ins are only counted', async () => {
  const { operational, expose } = metricsOf(() => [], 'test')
  const log: Record<string, unknown>[] = []
  const onEvent = logWebEvents(
    pino({ level: 'info' }, { write: (line: string) => void log.push(JSON.parse(line)) }),
    operational,
  )
  const counted = async () =>
    (await expose('prometheus')).body.match(/^callwatch_(?:login_failures|silence_changes)_total.*$/gm)
  expect(await counted()).toEqual([
    'callwatch_login_failures_total 0',
    'callwatch_silence_changes_total{change="added"} 0',
    'callwatch_silence_changes_total{change="edited"} 0',
    'callwatch_silence_changes_total{change="expired"} 0',
  ])
  const peer = '10.0.0.1'
  onEvent({ kind: 'login failed', peer, refused: false })
  onEvent({ kind: 'login failed', peer: `::ffff:${peer}`, refused: false })
  onEvent({ kind: 'login failed', peer, refused: true })
  const silence = { id: 3, match: { alert: 'NoCalls' }, since: 0, until: 3600, reason: 'maintenance' }
  onEvent({ kind: 'silence added', peer, user: 'ops', silence })
  onEvent({ kind: 'silence edited', peer, user: 'ops', silence: { ...silence, edits: 1 } })
  onEvent({ kind: 'silence expired', peer, user: 'ops', id: 3 })
  expect(await counted()).toEqual([
    'callwatch_login_failures_total 3',
    'callwatch_silence_changes_total{change="added"} 1',
    'callwatch_silence_changes_total{change="edited"} 1',
    'callwatch_silence_changes_total{change="expired"} 1',
  ])
  const shown = { ...silence, since: '1970-01-01T00:00:00.000Z', until: '1970-01-01T01:00:00.000Z', edits: 0 }
  expect(log).toMatchObject([
    { level: 40, peer, msg: 'log-in failed: wrong user name or password, from 10.0.0.1' },
    { level: 40, peer },
    { level: 30, peer, user: 'ops', silence: shown, msg: 'silence 3 was added over the API by ops from 10.0.0.1' },
    {
      level: 30,
      peer,
      user: 'ops',
      silence: { ...shown, edits: 1 },
      msg: 'silence 3 was edited over the API by ops from 10.0.0.1',
    },
    {
      level: 30,
      peer,
      user: 'ops',
      silence: { id: 3 },
      msg: 'silence 3 was expired over the API by ops from 10.0.0.1',
    },
  ])
})
