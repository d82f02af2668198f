import { valuesOfDay } from '../../../src/alerts/values-of-day.ts'
import { onTestFinished } from 'vitest'
import type { Notification } from '../../../src/alerts/notification.ts'
import { newDraft } from '../../../src/ledger/delta/delta-draft.ts'
import { inHistorySince, type TrackedCall } from '../../../src/ledger/tracked-call.ts'
import { quarterHourOf } from '../../../src/ledger/usage.ts'
import { metricsOf } from '../../../src/metrics/registry.ts'
import { StoreError } from '../../../src/store/store-error.ts'
import type { NotifiedRow } from '../../../src/store/store.ts'
import type { WebhookProgress } from '../../../src/store/webhook-store.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import type { Credentials, WebEvent } from '../../../src/web/authentication.ts'
import type { Changes } from '../../../src/events/event.ts'
import { expiryEvents, newEvents } from '../../../src/events/new-events.ts'
import type { Certificate } from '../../../src/web/http-section.ts'
import type { HooksOptions } from '../../../src/web/hooks.ts'
import { startWeb } from '../../../src/web/server.ts'
import type { PollReport } from '../../../src/polling/poll-report.ts'
import { healthRecord, NO_POLL } from '../../../src/pipeline/health.ts'
import type { TargetStatus } from '../../../src/pipeline/target.ts'
import type { OtherTarget } from '../../../src/views/state/overview.ts'
import { handMadeTarget, POLLED, NOW } from '../metrics/hand-made-target.ts'
import { commitChanges } from '../store/place.ts'

type Made = Parameters<typeof handMadeTarget>[0] & {
  pollAge?: number
  /** How often it is polled (seconds); 15 if left out. A page shows it as stale that has heard nothing of it in about three intervals. */
  interval?: number
  hasPage?: boolean
  polledFor?: number
  problem?: string
} & Pick<PollReport, 'fault' | 'slowSweep' | 'refusedFrom' | 'slowAnswers'>

/** A target whose last poll was successful unless `made` has a problem. */
export function shownTarget(made: Made = {}): TargetStatus {
  const { sync = POLLED, pollAge = 5, interval = 15, problem, fault = 'service' } = made
  const { slowSweep, refusedFrom, slowAnswers } = made
  const { hasPage = problem === undefined || fault === 'list', polledFor = 0 } = made
  let now = 0
  const health = healthRecord(() => now)
  const successful = problem === undefined
  const code = hasPage ? '200' : '500'
  const requests = [1, 2, 3].map(() => ({ operation: 'list_calls', code, seconds: 0.1 }) as const)
  health.add({
    ...NO_POLL,
    successful,
    problem,
    requests,
    ...(!successful && { fault }),
    ...(slowSweep && { slowSweep }),
    ...(refusedFrom && { refusedFrom }),
    slowAnswers,
  })
  now = polledFor
  const target = handMadeTarget({ ...made, sync })
  return {
    ...target,
    settings: {
      ...target.settings,
      poll: { baseline: 'skip', interval, lookback: 86_400, maxRequestsPerMinute: 400 },
    },
    health: health.current,
    values: valuesOfDay(),
    owner: () => undefined,
    pollAge: () => pollAge,
    evaluationAge: () => 0,
    progress: () => undefined,
    pausedFor: () => 0,
    slowedTo: () => undefined,
  }
}

export const AUTH: Credentials = { username: 'ops', password: 'a long: password' }

/** The header that sends these credentials (RFC 7617). */
export function basic({ username, password } = AUTH): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
}

export type ServeOptions = {
  /** When the targets with a history were set up (UNIX seconds). */
  created?: number
  /** How far the clocks of the services of these targets are ahead (seconds). */
  clockSkews?: Readonly<Record<string, number>>
  /** Webhooks of events, by their names. */
  webhooks?: Readonly<Record<string, Partial<WebhookProgress> & { deadLetters?: number }>>
  history?: { target: string; call: TrackedCall }[]
  auth?: Credentials
  /** Whether commands find the configuration only by `--config`. */
  isNamed?: boolean
  /** Targets that other daemons own. */
  others?: OtherTarget[]
  /** Called with each query of the history. */
  onRead?: () => unknown
  /** Why the store is not available, or a bug in it. */
  storeProblem?: string | TypeError
  /** Two receivers without a failure if left out. */
  receivers?: Parameters<typeof startWeb>[0]['receivers']
  /** Default: nothing suppresses an alert. */
  suppressed?: Parameters<typeof startWeb>[0]['suppressed']
  /** Default: no evaluation is old. */
  freshFrom?: () => number
  /** Seconds. */
  requestTimeout?: number
  /** Loopback if left out. */
  host?: string
  publicUrl?: string
  /** Accept webhooks of the calls service; default: for no target. */
  hookOf?: HooksOptions['hookOf']
  /** Default: no search is allowed. */
  find?: Parameters<typeof startWeb>[0]['find']
  onHook?: HooksOptions['onHook']
  onHint?: HooksOptions['onHint']
  hookClock?: NonNullable<HooksOptions['hookClock']>
  tls?: Certificate
  /** A listener of its own for them. */
  hooks?: { host: string; port: number }
}

export type Served = {
  url: string
  /** The listener of webhooks. */
  hooksUrl: string
  /** Logs changes of alerts of a target, and keeps them in the history. */
  append: (...changes: Notification[]) => Promise<void>
  /** Writes what receivers were told. */
  tell: (...rows: NotifiedRow[]) => Promise<void>
  /** Logs changes of calls of a target. */
  log: (ledger: Changes['ledger']) => Promise<void>
  noted: readonly WebEvent[]
  /** Advances the host's clock by so many seconds. */
  tick: (seconds: number) => void
  close: () => Promise<void>
}

/** Serves hand-made targets on a free port of loopback; closes after the test. */
export async function serve(
  targets: TargetStatus[],
  {
    history = [],
    others = [],
    webhooks = {},
    clockSkews = {},
    storeProblem,
    onRead,
    publicUrl,
    auth,
    ...options
  }: ServeOptions = {},
): Promise<Served> {
  const store = openSqliteStore({ path: ':memory:' })
  onTestFinished(() => store.close())
  for (const [name, { deadLetters = 0, ...progress }] of Object.entries(webhooks)) {
    const dead = (place: number) => ({ position: 1, place, id: 'a', series: 'x', at: NOW, dead: true, attempts: 9 })
    const put = Array.from({ length: deadLetters }, (_, place) => dead(place))
    await store.saveWebhook({ name, revision: 0, progress: { cursor: '0', ...progress }, put })
  }
  for (const [target, calls] of Map.groupBy(history, (each) => each.target)) {
    const { ledger } = await store.openTarget({ name: target, fingerprint: '' }, options.created ?? NOW - 1000, 86_400)
    const { delta } = newDraft({ ...ledger.sync, clockSkew: clockSkews[target] })
    for (const { call } of calls) {
      delta.calls.set(call.id, call)
      const finished = inHistorySince(call)
      if (finished !== undefined) delta.stale.add(quarterHourOf(finished))
    }
    await store.commit(target, {
      ledger: delta,
      alerts: { changed: [], ended: [], notifications: [] },
    })
  }
  const expectStore = () => {
    if (typeof storeProblem === 'string') throw new StoreError('unavailable', storeProblem)
    if (storeProblem !== undefined) throw storeProblem
  }
  const noted: WebEvent[] = []
  let now = NOW
  const web = await startWeb({
    hookOf: () => undefined,
    find: () => undefined,
    onHook: () => undefined,
    onHint: async () => undefined,
    host: '127.0.0.1',
    port: 0,
    version: '1.2.3',
    targets: {
      all: () => [...targets, ...others].map(({ name }) => name),
      own: () => targets,
      loading: () => [],
      areOthersKnown: () => true,
      others: () => others,
    },
    groupOf:
      () =>
      ({ alert, severity }) => ({ key: `${alert} ${severity}`, labels: { alert, severity } }),
    freshFrom: () => -Infinity,
    suppressed: () => new Map(),
    configured: () => targets.map(({ name }) => ({ name, baseUrl: 'https://app.call-eu.cometchat.io/v3' })),
    known: () => ({
      alert: [...new Set(targets.flatMap(({ settings: { rules } }) => rules.map(({ name }) => name)))],
      target: targets.map(({ name }) => name),
    }),
    receivers: () => [
      { name: 'slack', failure: undefined },
      { name: 'pager', failure: undefined },
    ],
    store: {
      ...store,
      rows: async (...query) => {
        await onRead?.()
        return store.rows(...query)
      },
      silences: async (now) => {
        expectStore()
        return store.silences(now)
      },
      finishedPerMinute: async (...query) => {
        expectStore()
        return store.finishedPerMinute(...query)
      },
      webhooks: async () => {
        expectStore()
        return store.webhooks()
      },
    },
    rules: () => targets[0]?.settings.rules ?? [],
    receiversOf: () => ['slack', 'pager'],
    testNotify: async () => [
      { receiver: 'slack', problem: null },
      { receiver: 'pager', problem: 'HTTP 404' },
    ],
    problem: () => (typeof storeProblem === 'string' ? storeProblem : undefined),
    publicUrl: () => publicUrl,
    auth: auth && (() => auth),
    expose: metricsOf(() => targets, '1.2.3').expose,
    wall: () => now,
    onEvent: (event) => void noted.push(event),
    ...options,
  })
  onTestFinished(web.close)
  const append = (...changes: Notification[]) =>
    commitChanges(store, 'production', {
      changes,
      events: expiryEvents(changes, NOW),
    })
  const log = (ledger: Changes['ledger']) => {
    const events = newEvents({ ledger, notifications: [], backfilled: false }, NOW)
    return commitChanges(store, 'production', { events })
  }
  return {
    url: `http://127.0.0.1:${web.port}`,
    hooksUrl: `http://127.0.0.1:${web.hooksPort}`,
    append,
    tell: (...rows) => store.writeNotified({ rows }),
    log,
    close: web.close,
    noted,
    tick: (seconds) => void (now += seconds),
  }
}
