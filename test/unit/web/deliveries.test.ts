import { expect, test } from 'vitest'
import { isoTime } from '../../../src/clock/times.ts'
import { suppressedAlerts } from '../../../src/notifications/delivery/suppress.ts'
import { receiverView } from '../../../src/views/receiver-status.ts'
import { receiverViews } from '../../../src/web/api/deliveries.ts'
import { firingOf, RATIO } from '../../kit/alerts/sample-rules.ts'
import { firing, NOW } from '../../kit/metrics/hand-made-target.ts'
import { shownTarget } from '../../kit/web/serve.ts'

test('what waits for a receiver is counted without what is silenced, muted or inhibited, as `status` counts it', async () => {
  const target = (name: string) => shownTarget({ target: name, rules: [RATIO], alerts: [firing(RATIO)] })
  const changes = ['a', 'b', 'c'].map((name, i) => firingOf(RATIO, name, NOW - 60 * i))
  const entries = [...changes, { kind: 'digest' as const, digest: {} }].map((content) => ({
    receiver: 'slack',
    data: JSON.stringify(content),
  }))
  const viewOf = async (silences: readonly object[], live = ['a', 'b', 'c']) => {
    const options = {
      store: {
        silences: async () => silences,
        rows: async () => entries,
      },
      targets: { own: () => live.map(target), others: () => [] },
      receivers: () => [{ name: 'slack' }, { name: 'pager' }],
      wall: () => NOW,
      suppressed: (...[alerts, active, waiting]: Parameters<Parameters<typeof receiverViews>[0]['suppressed']>) =>
        suppressedAlerts(alerts, { notify: { inhibit: [], mutes: [] }, silences: active, now: NOW }, waiting),
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is used of the options
    return receiverViews(options as never)
  }
  const none = { name: 'pager', pending: 0, suppressed: 0 }
  expect(await viewOf([])).toEqual([{ name: 'slack', pending: 4, suppressed: 0, oldest_pending_seconds: 120 }, none])
  const silence = { id: 1, match: { target: 'c' }, since: NOW, until: NOW + 60, reason: '' }
  expect(await viewOf([silence])).toEqual([
    { name: 'slack', pending: 3, suppressed: 1, oldest_pending_seconds: 60 },
    none,
  ])
  // The end of an alert waits, too.
  expect(await viewOf([silence], ['a', 'b'])).toEqual(await viewOf([silence]))
})

test('the next attempt is named only while it is to come', () => {
  const nextOf = (next: number) =>
    receiverView({ name: 'slack', failure: { problem: 'refused', next } }, [], new Map(), NOW).next_attempt
  expect([nextOf(NOW + 1), nextOf(NOW)]).toEqual([isoTime(NOW + 1), undefined])
})
