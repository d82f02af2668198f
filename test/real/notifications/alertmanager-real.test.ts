import { text } from 'node:stream/consumers'
import { Subject } from 'rxjs'
import { describe, expect, onTestFinished, test, vi, type TestContext } from 'vitest'
import { systemClock, type Clock } from '../../../src/clock/clock.ts'
import type { LiveAlert } from '../../../src/alerts/alert.ts'
import { refreshing } from '../../kit/notifications/receivers/refreshing.ts'
import type { Delivery } from '../../../src/notifications/delivery/deliver.ts'
import { alertmanagerRefresh } from '../../../src/notifications/receivers/alertmanager/alertmanager-refresh.ts'
import { localServer } from '../../kit/commands/local-server.ts'
import { eventually } from '../../kit/eventually.ts'
import {
  missingPrograms,
  startAlertmanager,
  type WebhookNotification,
} from '../../kit/notifications/receivers/alertmanager/alertmanager-process.ts'
import { firingSince, type Differing } from '../../kit/notifications/receivers/alertmanager/alertmanager-sample.ts'

/** Seconds for what should take two, and far less than any error of a clock here. */
const TIMEOUT_SECONDS = 60
const JSON_TYPE = { 'content-type': 'application/json' }

/** The system's clock, as a host has it that is this many seconds ahead of Alertmanager's. */
const ahead = (seconds: number): Clock => ({ ...systemClock, wall: () => systemClock.wall() + seconds })

/** A real Alertmanager that gets the alerts of these instances, and says that its clock is that many seconds ahead. */
async function connected(context: TestContext, { clock = systemClock, dateAhead = 0 } = {}) {
  if (missingPrograms.length > 0 && process.env['CI'] !== 'true') {
    context.skip(`${missingPrograms.join(', ')} not on the PATH: apt-get install prometheus-alertmanager`)
  }
  vi.stubEnv('no_proxy', '127.0.0.1')
  onTestFinished(() => void vi.unstubAllEnvs())
  const alertmanager = await startAlertmanager()
  const draining$ = new Subject<void>()
  const instances = new Map<string, LiveAlert>()
  const deliveries: Delivery[] = []
  const receiver = {
    name: 'alertmanager',
    refresh: alertmanagerRefresh({
      url: await dated(alertmanager.url, dateAhead),
      clock,
      pageUrl: 'http://callwatch.test:9464/',
    }),
  }
  const alerts = () => [...instances.values()]
  const refresh = refreshing(receiver, { alerts }, { clock, draining$ }).subscribe((delivery) =>
    deliveries.push(delivery),
  )
  onTestFinished(() => refresh.unsubscribe())
  return {
    ...alertmanager,
    draining$,
    deliveries,
    fire: (alert: string, { rule, ...given }: Differing = {}) =>
      void instances.set(alert, firingSince(systemClock.wall(), { rule: { name: alert, ...rule }, ...given })),
    end: (alert: string) => void instances.delete(alert),
    /** The first notification like this. */
    notified: (isIt: (notification: WebhookNotification) => boolean) =>
      eventually(async () => alertmanager.notifications.find(isIt), TIMEOUT_SECONDS),
  }
}

/** Passes requests on to this address, and answers with a `Date` that is this many seconds ahead. */
async function dated(address: string, seconds: number): Promise<string> {
  const { url } = await localServer((request, response) => {
    const passed = text(request)
      .then((body) => fetch(`${address}${request.url}`, { method: 'POST', headers: JSON_TYPE, body }))
      .then(async (answer) => {
        const date = Date.parse(answer.headers.get('date') ?? '') + seconds * 1000
        response.writeHead(answer.status, { date: new Date(date).toUTCString() }).end(await answer.text())
      })
    // Alertmanager ended meanwhile.
    passed.catch(() => response.destroy())
  })
  return url
}

const names = ({ alerts }: WebhookNotification) => alerts.map(({ labels }) => labels.alertname).toSorted()

describe('a real Alertmanager', () => {
  test('sends the alerts of one target as one notification, with the labels that silences and routes match', async (context) => {
    const { fire, notified, notifications, deliveries } = await connected(context)
    const video = { type: 'video' }
    fire('HighFailureRate', { key: 'HighFailureRate{type="video"}', labels: video })
    fire('NoGoodPoll', { rule: { severity: 'warning' } })
    const { status, groupLabels, alerts } = await notified(() => true)
    expect([status, groupLabels]).toEqual(['firing', { target: 'production' }])
    const labels = alerts
      .toSorted((a, b) => (a.labels.alertname < b.labels.alertname ? -1 : 1))
      .map((one) => one.labels)
    expect(labels).toEqual([
      { alertname: 'HighFailureRate', severity: 'critical', target: 'production', ...video },
      { alertname: 'NoGoodPoll', severity: 'warning', target: 'production' },
    ])
    expect(notifications).toHaveLength(1)
    await expect.poll(() => deliveries).toEqual([{ receiver: 'alertmanager', outcome: 'sent' }])
  })

  test('suppresses silenced alerts until the silence ends', async (context) => {
    const { fire, notified, notifications, amtool } = await connected(context)
    const about = ['--author=us', '--comment=known', '--duration=1h']
    const silence = amtool('silence', 'add', ...about, 'alertname=HighFailureRate', 'target=production')
    fire('HighFailureRate')
    fire('NoGoodPoll')
    // It gets both in one post; the other one shows that the time of the silenced one had come.
    await notified((notification) => names(notification).includes('NoGoodPoll'))
    expect(notifications.map(names)).toEqual([['NoGoodPoll']])
    expect(amtool('alert', 'query', '--silenced')).toContain('HighFailureRate')
    amtool('silence', 'expire', silence)
    await notified((notification) => names(notification).includes('HighFailureRate'))
  })

  test('says that an alert is resolved as soon as it has ended here', async (context) => {
    const { fire, end, notified } = await connected(context)
    fire('HighFailureRate')
    await notified(({ status }) => status === 'firing')
    const ended = systemClock.wall()
    end('HighFailureRate')
    const { alerts } = await notified(({ status }) => status === 'resolved')
    const endedAfter = Date.parse(alerts[0]!.endsAt) / 1000 - ended
    expect(endedAfter).toBeGreaterThanOrEqual(-0.001)
    expect(endedAfter).toBeLessThan(TIMEOUT_SECONDS)
  })

  test.for([-360, -270, 360])(
    'lists an alert until it ends, with a host whose clock is %d s ahead',
    async (seconds, context) => {
      const { fire, end, notified, notifications, amtool, deliveries } = await connected(context, {
        clock: ahead(seconds),
      })
      fire('HighFailureRate')
      await notified(({ status }) => status === 'firing')
      fire('NoGoodPoll')
      await notified((notification) => names(notification).includes('NoGoodPoll'))
      const listed: { startsAt: string; endsAt: string }[] = JSON.parse(amtool('alert', 'query', '--output=json'))
      expect(listed).toHaveLength(2)
      for (const { startsAt, endsAt } of listed) {
        const [from, to] = [startsAt, endsAt].map((time) => systemClock.wall() - Date.parse(time) / 1000)
        expect(Math.abs(from!)).toBeLessThan(TIMEOUT_SECONDS)
        expect(Math.abs(to! + 300)).toBeLessThan(TIMEOUT_SECONDS)
      }
      end('HighFailureRate')
      end('NoGoodPoll')
      const { alerts } = await notified(({ status }) => status === 'resolved')
      const endedAfter = systemClock.wall() - Date.parse(alerts[0]!.endsAt) / 1000
      expect(Math.abs(endedAfter)).toBeLessThan(TIMEOUT_SECONDS)
      expect(notifications.map(({ status }) => status)).toEqual(['firing', 'firing', 'resolved'])
      // Alertmanager may send the notification before its answer is read.
      await expect.poll(() => deliveries.map(({ outcome }) => outcome)).toEqual(['sent', 'sent', 'sent'])
    },
  )

  test('lets an alert expire that is not refreshed, as when callwatch is dead', async (context) => {
    // By a Date that is 280 s slow, the 300 s that an alert lives are over in twenty.
    const { fire, notified, draining$, deliveries } = await connected(context, { dateAhead: -280 })
    fire('HighFailureRate')
    await eventually(async () => deliveries[0], TIMEOUT_SECONDS)
    draining$.next()
    const firing = await notified(({ status }) => status === 'firing')
    const { alerts } = await notified(({ status }) => status === 'resolved')
    const lived = (Date.parse(alerts[0]!.endsAt) - Date.parse(firing.alerts[0]!.startsAt)) / 1000
    expect(lived).toBeGreaterThanOrEqual(300)
    expect(deliveries).toHaveLength(1)
  })
})
