import { BehaviorSubject, NEVER } from 'rxjs'
import { expect, test } from 'vitest'
import { configOf } from '../../../src/config/config.ts'
import { notifying } from '../../../src/daemon/notifying/notifying.ts'
import type { DaemonParts } from '../../../src/daemon/parts.ts'
import { DeliveryError } from '../../../src/network/delivery-error.ts'
import { deliveryFailures } from '../../../src/notifications/delivery/delivery-failures.ts'
import type { MessageReceiver, StateReceiver } from '../../../src/notifications/receiver.ts'
import { StoreError } from '../../../src/store/store-error.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { shippedRules } from '../../kit/alerts/sample-rules.ts'
import { alertWorld } from '../../kit/notifications/daemon/alert-world.ts'
import { commitChange } from '../../kit/notifications/daemon/commit-change.ts'
import { AT } from '../../kit/notifications/notifying-daemon.ts'

const CONFIG = configOf({
  targets: [{ name: 'production', base_url: 'http://127.0.0.1:1/v3', api_key: 'key' }],
  alerts: [{ name: 'A', signal: 'failure_ratio', above: 0.3, severity: 'warning' }],
  notify: { group_wait: 0, slack: { webhook_url: 'https://slack.test/' } },
})
const busy = new DeliveryError('it answered 429', { retryable: true, retryAfter: 30 })
/** How many messages wait, and since when one is attempted. */
const waiting = { pending: 1, oldest: AT }
const refusal = new DeliveryError('it refused with 404', { retryable: false })

/** A daemon's deliveries of one alert that fires, to a receiver and an Alertmanager that fail as given, if they do. */
async function failing(error: DeliveryError | undefined, config = CONFIG) {
  const clock = virtualClock(AT)
  const store = openSqliteStore({ path: ':memory:' })
  const attempts: string[] = []
  const attempt = async (receiver: string) => {
    attempts.push(`${receiver} ${clock.monotonic()}`)
    if (error !== undefined) throw error
  }
  const groups: unknown[] = []
  const slack = (name: string): MessageReceiver => ({
    name: 'slack',
    send: (message) => {
      if (message.kind === 'alerts') groups.push(message.group)
      return attempt(name)
    },
  })
  const state: StateReceiver = { name: 'am', refresh: () => () => attempt('am') }
  let all = [slack('slack'), state]
  let leads = true
  const states = { expectLeader: (): void => undefined }
  const failures = deliveryFailures((text) => text)
  const config$ = new BehaviorSubject(config)
  const alerts = alertWorld({ clock, config: () => config$.value, commit: (change) => commitChange(store, change) })
  const production = {
    name: 'production',
    evaluationAge: () => 0,
    // It was set up long ago.
    ledger: { sync: { created: 0 } },
    pollAge: () => 0,
    health: () => ({ fault: undefined }),
  }
  const parts = {
    mask: (text: string) => text,
    clock,
    store,
    failures,
    config: () => config$.value,
    receivers: { all: () => all, names: () => ['slack'], keys: () => ['slack'] },
    targets: { all: () => ['production'], loaded: () => [{ ...production, alerts: alerts.of('production') }] },
    overviews: { isComplete: () => true, others: () => [] },
    ownership: {
      isLeader: () => leads,
      wasLeader: () => leads,
      expectLeader: async () => states.expectLeader(),
      membership: () => undefined,
    },
    health: { latest: () => undefined },
    draining$: NEVER,
  }
  await alerts.fire('production', 'A')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parts that notifying needs
  notifying(parts as unknown as DaemonParts, config$).subscribe()
  await clock.advance(3)
  return {
    clock,
    attempts,
    failures,
    alerts,
    config$,
    /** Of the messages. */
    groups,
    slack,
    /** Decides by the store who sends the state. */
    states,
    lose: () => (leads = false),
    /** Activates a configuration with these receivers instead of the first ones. */
    reload: async (changed?: MessageReceiver) => {
      if (changed !== undefined) all = [changed, state]
      config$.next({ ...CONFIG, notify: { ...CONFIG.notify, groupInterval: clock.monotonic() } })
      await clock.advance(25)
    },
  }
}

test('a reload keeps the pauses of a receiver that stays, and since when it fails', async () => {
  const { attempts, clock, failures, reload } = await failing(busy)
  await reload()
  expect(attempts.toSorted()).toEqual(['am 0', 'slack 0'])
  expect(failures.of('slack')).toEqual({ ...waiting, since: AT, problem: 'it answered 429', next: AT + 30 })
  await clock.advance(2)
  expect(attempts.slice(2).toSorted()).toEqual(['am 30', 'slack 30'])
  expect(failures.of('slack')?.since).toBe(AT)
})

test('what a receiver refused is offered again at once after a reload that changes the receiver', async () => {
  const { attempts, failures, slack, reload } = await failing(refusal)
  await reload()
  expect(failures.of('slack')).toEqual({ ...waiting, since: AT, problem: 'it refused with 404', next: AT + 300 })
  await reload(slack('changed'))
  expect(attempts.filter((each) => !each.startsWith('am'))).toEqual(['slack 0', 'changed 28'])
  expect(failures.of('slack')?.since).toBe(AT + 28)
})

test('a daemon that is the leader no more says no longer that a receiver fails', async () => {
  const { clock, failures, lose } = await failing(busy)
  lose()
  await clock.advance(2)
  expect(failures.of('slack')).toBeUndefined()
})

test('a receiver of the state gets it only from the leader by the store, which a paused daemon does not know', async () => {
  const { clock, attempts, states, failures } = await failing(undefined)
  states.expectLeader = () => {
    throw new StoreError('stale', 'another daemon is the leader')
  }
  const before = attempts.length
  await clock.advance(5)
  expect(attempts).toHaveLength(before)
  expect(failures.of('am')).toBeUndefined()
  states.expectLeader = () => undefined
  await clock.advance(1)
  expect(attempts.slice(before)).toEqual(['am 9'])
})

test('after a reload of the rules alone, alerts are grouped by the new ones', async () => {
  const { clock, alerts, groups, config$ } = await failing(undefined)
  config$.next({ ...CONFIG, alerts: shippedRules() })
  for (const name of ['HighFailureRate', 'VeryHighFailureRate']) {
    await alerts.fire('production', name)
    await clock.advance(400)
  }
  const worst = { alert: 'VeryHighFailureRate', severity: 'critical' }
  expect(groups).toEqual([{ alert: 'A', severity: 'warning' }, worst, worst])
})
