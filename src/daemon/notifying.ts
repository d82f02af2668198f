import { combineLatest, distinctUntilChanged, EMPTY, map, merge, takeUntil, type Observable } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import type { Ownership } from '../cluster/ownership.ts'
import type { Config } from '../config/config.ts'
import { alertmanagerRefresh } from '../notifications/receivers/alertmanager/alertmanager-refresh.ts'
import { dailyDigest } from '../notifications/daily-digest.ts'
import { deliverOutbox } from '../notifications/delivery/deliver-outbox.ts'
import type { ToRemove } from '../notifications/delivery/acknowledge.ts'
import { heartbeats } from '../notifications/receivers/heartbeat/heartbeats.ts'
import { DeliveryError } from '../network/delivery-error.ts'
import type { Receiver } from '../notifications/receiver.ts'
import {
  alertmanagersIn,
  digestRecipients,
  messageReceiversIn,
  pageUrlIn,
} from '../notifications/configured-receivers.ts'
import { recipientsBy } from '../notifications/routes.ts'
import { notifyOfOutage } from '../notifications/store-outage.ts'
import type { Store } from '../store/store.ts'
import type { Targets } from '../pipeline/lifecycle.ts'
import { runWhile } from '../pipeline/run-while.ts'
import type { DaemonEvent } from './daemon-event.ts'
import { storeProblem } from './store-problem.ts'
import type { Overviews } from './overviews.ts'
import { VERSION } from './version.ts'

export type NotifyingOptions = {
  config$: Observable<Config>
  clock: Clock
  store: Store
  /** The active ones. */
  receivers: () => readonly Receiver[]
  targets: Pick<Targets, 'all' | 'loaded'>
  /** What is known of the targets of other daemons. */
  overviews: Pick<Overviews, 'others' | 'isComplete$'>
  /** Of the daemons that share a store one sends all notifications, also of the others' targets. */
  ownership: Pick<Ownership, 'isLeader' | 'isLeader$' | 'wasLeader'>
  /** What the targets do. */
  targetEvents$: Observable<DaemonEvent>
  draining$: Observable<unknown>
}

/** Intervals without an evaluation after which callwatch does not do what it is there for. */
const STALE_AFTER_INTERVALS = 3
/** A target whose owner died is polled again within the lease and two intervals. */
const OTHERS_STALE_AFTER_INTERVALS = 6

/** All notifications: delivery of the outbox, Alertmanager, digest, heartbeat, and problems of the store. */
export function notifying(options: NotifyingOptions): Observable<DaemonEvent> {
  const { config$, clock, store, targets, ownership, targetEvents$, draining$: daemonDraining$ } = options
  const { others, isComplete$ } = options.overviews
  const receivers = () => options.receivers().map((receiver) => whileLeader(receiver, ownership.isLeader))
  const toRemove: ToRemove = new Map()
  const alerts = () =>
    [
      ...targets.loaded().map(({ name, alerts: own }) => ({ name, alerts: own.values().toArray() })),
      ...others(),
    ].flatMap(({ name, alerts: own }) => own.map((instance) => ({ target: name, instance })))
  const begun = clock.monotonic()
  const isWorking = (interval: number) => {
    const [loaded, elsewhere] = [targets.loaded(), others()]
    const isFresh = (age: number) => age <= OTHERS_STALE_AFTER_INTERVALS * interval
    return (
      loaded.every(
        ({ evaluationAge, health }) => evaluationAge() <= STALE_AFTER_INTERVALS * interval && !health().storeFailed,
      ) &&
      elsewhere.every(({ at, evaluationAge }) => isFresh(evaluationAge + clock.wall() - at)) &&
      // No daemon has loaded the rest of them yet.
      (loaded.length + elsewhere.length === targets.all().length || isFresh(clock.monotonic() - begun))
    )
  }
  const created = () => [
    ...targets.loaded().map(({ name, ledger }) => ({ name, created: ledger.sync.created })),
    ...others(),
  ]
  // A leader that does not know all targets yet would miss alerts that suppress others, and targets of the digest.
  const notifies$ = combineLatest([ownership.isLeader$, isComplete$]).pipe(
    map((conditions) => conditions.every(Boolean)),
    distinctUntilChanged(),
  )
  /** Runs with a part of the configuration until that changes, while this daemon is the leader. */
  const runWith = <Part, Event>(
    partOf: (config: Config) => Part,
    run: (part: Part, draining$: Observable<unknown>) => Observable<Event>,
  ) => {
    const part$ = combineLatest([config$.pipe(map(partOf)), notifies$.pipe(takeUntil(daemonDraining$))])
    return runWhile(part$, ([part, isLeader], settingsDraining$) =>
      isLeader ? run(part, merge(settingsDraining$, daemonDraining$)) : EMPTY,
    )
  }

  const sent$ = runWith(
    ({ notify, http }) => ({
      receivers: messageReceiversIn(notify),
      groupWait: notify.groupWait,
      mutes: notify.mutes,
      inhibit: notify.inhibit,
      routes: notify.routes,
      publicUrl: http.publicUrl,
    }),
    ({ groupWait, mutes, inhibit, routes, publicUrl }, draining$) => {
      const recipients = recipientsBy(
        routes,
        receivers().map(({ name }) => name),
      )
      return merge(
        ...receivers().map((receiver) =>
          deliverOutbox(receiver, {
            store,
            clock,
            groupWait,
            mutes,
            inhibit,
            isNotified: (alert) => recipients(alert).includes(receiver.name),
            publicUrl,
            alerts,
            toRemove,
            draining$,
          }),
        ),
      )
    },
  )
  // A daemon that cannot reach the store does not know whether it is still the leader: the last leader notifies.
  const problem$ = runWhile(config$.pipe(map(({ poll: { interval } }) => interval)), (interval, settingsDraining$) =>
    notifyOfOutage(storeProblem(targetEvents$).pipe(map((problem) => (ownership.wasLeader() ? problem : undefined))), {
      receivers: options.receivers,
      clock,
      after: 2 * interval,
    }).pipe(takeUntil(merge(settingsDraining$, daemonDraining$))),
  )
  const alertmanager$ = runWith(
    ({ notify, http, poll: { interval } }) => ({
      alertmanagers: alertmanagersIn(notify),
      pageUrl: http.publicUrl ?? pageUrlIn(notify),
      interval,
    }),
    ({ alertmanagers, ...part }, draining$) =>
      merge(
        ...alertmanagers.map(({ name, config: { url } }) =>
          alertmanagerRefresh({ name, url, ...part, clock, instances: alerts, draining$, version: VERSION }),
        ),
      ),
  )
  const digest$ = runWith(
    ({ notify }) => notify,
    (notify, draining$) => {
      const { digest } = notify
      const names = digestRecipients(
        notify,
        options.receivers().map(({ name }) => name),
      )
      return digest === undefined
        ? EMPTY
        : dailyDigest({ ...digest, clock, store, targets: created, receivers: names, draining$ })
    },
  )
  const heartbeat$ = runWith(
    ({ notify, poll: { interval } }) => ({ beat: notify.heartbeat, interval }),
    ({ beat, interval }, draining$) =>
      beat === undefined ? EMPTY : heartbeats({ ...beat, isWorking: () => isWorking(interval), clock, draining$ }),
  )
  return merge(
    merge(sent$, problem$, alertmanager$).pipe(map((delivery): DaemonEvent => ({ kind: 'delivery', delivery }))),
    digest$,
    heartbeat$.pipe(map((heartbeat): DaemonEvent => ({ kind: 'heartbeat', heartbeat }))),
  )
}

/** A daemon that was suspended must not send what another one has sent since. */
function whileLeader(receiver: Receiver, isLeader: () => boolean): Receiver {
  return {
    name: receiver.name,
    send: async (message) => {
      if (!isLeader()) throw new DeliveryError('another daemon sends the notifications by now', { retryable: true })
      return receiver.send(message)
    },
  }
}
