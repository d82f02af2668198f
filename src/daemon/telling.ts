import { combineLatest, EMPTY, map, merge, takeUntil, type Observable } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import type { Ownership } from '../cluster/ownership.ts'
import type { Config } from '../config/config.ts'
import { alertmanagerRefresh } from '../notify/alertmanager/alertmanager.ts'
import { dailyDigest } from '../notify/daily-digest.ts'
import { deliverOutbox } from '../notify/deliver-outbox.ts'
import { heartbeat } from '../notify/heartbeat.ts'
import { DeliveryError, type Notifier } from '../notify/notifier.ts'
import { tellOfStore } from '../notify/tell-of-store.ts'
import type { Store } from '../store/store.ts'
import type { WatchedTarget } from '../web/views.ts'
import type { DaemonEvent } from './daemon-event.ts'
import { following } from './following.ts'
import { storeTrouble } from './store-trouble.ts'
import { VERSION } from './version.ts'

export type TellingOptions = {
  config$: Observable<Config>
  clock: Clock
  store: Store
  /** Those of the moment. */
  notifiers: readonly Notifier[]
  targets: readonly WatchedTarget[]
  /** One of the daemons that share a store tells of all targets, its own and the others'. */
  ownership: Pick<Ownership, 'leads' | 'leads$' | 'ledLast'>
  /** What the targets do. */
  watched$: Observable<DaemonEvent>
  stop$: Observable<unknown>
}

/** Intervals without a judgement after which callwatch does not do what it is there for. */
const PATIENCE = 3
/** Of a target that another daemon judges only what it commits is known; it commits no judgement on a target that is just late. */
const OTHERS_PATIENCE = 6

/** Everything that tells somebody something: the outbox's senders, Alertmanager, digest, heartbeat, word of the store. */
export function telling(options: TellingOptions): Observable<DaemonEvent> {
  const { config$, clock, store, targets, ownership, watched$, stop$ } = options
  const notifiers = () => options.notifiers.map((notifier) => whileLeading(notifier, ownership.leads))
  const settled = new Map<string, readonly number[]>()
  const alerts = () =>
    targets.flatMap(({ target, alerts: own }) => [...own.values()].map((instance) => ({ target, instance })))
  const isWorking = (interval: number) =>
    targets.every(({ judgedAge, health, isOwn }) => {
      const patience = isOwn() ? PATIENCE : OTHERS_PATIENCE
      return judgedAge() <= patience * interval && !health.storeFailed()
    })
  /** Tells by a part of the configuration, while this daemon is to, until that is over, or all is. */
  const tell = <Part, Event>(
    partOf: (config: Config) => Part,
    run: (part: Part, end$: Observable<unknown>) => Observable<Event>,
  ) => {
    const part$ = combineLatest([config$.pipe(map(partOf)), ownership.leads$.pipe(takeUntil(stop$))])
    return following(part$, ([part, leads], over$) => (leads ? run(part, merge(over$, stop$)) : EMPTY))
  }

  const sent$ = tell(
    ({ notify: { slack, webhook, groupWait, mutes } }) => ({ slack, webhook, groupWait, mutes }),
    ({ groupWait, mutes }, end$) =>
      merge(
        ...notifiers().map((notifier) =>
          deliverOutbox(notifier, { store, clock, groupWait, mutes, alerts, settled, stop$: end$ }),
        ),
      ),
  )
  // A daemon that cannot reach the store does not know whether it still leads; of those that share it, one tells of that.
  const trouble$ = following(config$.pipe(map(({ poll: { interval } }) => interval)), (interval, over$) =>
    tellOfStore(storeTrouble(watched$).pipe(map((problem) => (ownership.ledLast() ? problem : undefined))), {
      notifiers: options.notifiers,
      clock,
      patience: 2 * interval,
    }).pipe(takeUntil(merge(over$, stop$))),
  )
  const alertmanager$ = tell(
    ({ notify: { alertmanager, slack }, poll: { interval } }) => ({
      alertmanager,
      pageUrl: slack?.dashboardUrl,
      interval,
    }),
    ({ alertmanager, ...part }, end$) =>
      alertmanager === undefined
        ? EMPTY
        : alertmanagerRefresh({ ...alertmanager, ...part, clock, instances: alerts, stop$: end$, version: VERSION }),
  )
  const digest$ = tell(
    ({ notify: { digest, slack, webhook } }) => ({ digest, slack, webhook }),
    ({ digest }, end$) => {
      const names = options.notifiers.map(({ name }) => name)
      return digest === undefined
        ? EMPTY
        : dailyDigest({ ...digest, clock, store, targets, notifiers: names, stop$: end$ })
    },
  )
  const heartbeat$ = tell(
    ({ notify, poll: { interval } }) => ({ beat: notify.heartbeat, interval }),
    ({ beat, interval }, end$) =>
      beat === undefined ? EMPTY : heartbeat({ ...beat, isWorking: () => isWorking(interval), clock, stop$: end$ }),
  )
  return merge(
    merge(sent$, trouble$, alertmanager$).pipe(map((delivery): DaemonEvent => ({ kind: 'delivery', delivery }))),
    digest$,
    heartbeat$.pipe(map((beaten): DaemonEvent => ({ kind: 'heartbeat', beaten }))),
  )
}

/** A daemon that was halted must not tell what another one tells by now. */
function whileLeading(notifier: Notifier, leads: () => boolean): Notifier {
  return {
    name: notifier.name,
    deliver: async (message) => {
      if (!leads()) throw new DeliveryError('another daemon tells by now', { retryable: true })
      return notifier.deliver(message)
    },
  }
}
