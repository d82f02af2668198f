import { map, merge, type Observable } from 'rxjs'
import type { LiveAlert } from '../alerts/alert.ts'
import type { Clock } from '../clock/clock.ts'
import type { Ownership } from '../cluster/ownership.ts'
import type { Config } from '../config/config.ts'
import { DeliveryError } from '../network/delivery-error.ts'
import { digestRecipients, takesMessages } from '../notifications/configured-receivers.ts'
import { dailyDigest } from '../notifications/daily-digest.ts'
import type { Unwritten } from '../notifications/delivery/acknowledge.ts'
import { attemptsOn } from '../notifications/delivery/attempts.ts'
import { deliver, stateRound, type Round } from '../notifications/delivery/deliver.ts'
import { outboxRound } from '../notifications/delivery/deliver-outbox.ts'
import type { Receiver, State } from '../notifications/receiver.ts'
import { recipientsBy } from '../notifications/routes.ts'
import { storeOutage } from '../notifications/store-outage.ts'
import type { Targets } from '../pipeline/lifecycle.ts'
import { runWhile } from '../pipeline/run-while.ts'
import type { Store } from '../store/store.ts'
import type { ActiveReceivers } from './active-receivers.ts'
import type { DaemonEvent } from './daemon-event.ts'
import type { Job } from './jobs.ts'
import type { Overviews } from './overviews.ts'
import type { StoreHealth } from './store-problem.ts'

export type NotifyingOptions = {
  config: () => Config
  clock: Clock
  store: Store
  receivers: Pick<ActiveReceivers, 'all' | 'names'>
  targets: Pick<Targets, 'all' | 'loaded'>
  /** What is known of the targets of other daemons. */
  overviews: Pick<Overviews, 'others' | 'isComplete'>
  /** Of the daemons that share a store one sends all notifications, also of the others' targets. */
  ownership: Pick<Ownership, 'isLeader' | 'wasLeader'>
  health: Pick<StoreHealth, 'latest'>
}

export type Notifying = {
  /** Delivers to all receivers of the active configuration until `draining$`. */
  run: (config$: Observable<Config>, draining$: Observable<unknown>) => Observable<DaemonEvent>
  /** Makes the digests. */
  digests: Job
}

/** Intervals without an evaluation after which callwatch does not do what it is there for. */
const STALE_AFTER_INTERVALS = 3
/** A target whose owner died is polled again within the lease and two intervals. */
const OTHERS_STALE_AFTER_INTERVALS = 6

export function notifying(options: NotifyingOptions): Notifying {
  const { config, clock, store, receivers, targets, overviews, ownership, health } = options
  const unwritten: Unwritten = new Map()
  // A leader that does not know all targets yet would miss alerts that suppress others, and targets of the digest.
  const notifies = () => ownership.isLeader() && overviews.isComplete()
  const state = stateOf(options)
  const outage = storeOutage({
    // A daemon that cannot reach the store does not know whether it is still the leader: the last leader notifies.
    problem: () => (ownership.wasLeader() ? health.latest() : undefined),
    clock,
    after: () => 2 * config().poll.interval,
  })
  const makeDigest = dailyDigest({
    digest: () => {
      const { notify } = config()
      return notify.digest && { ...notify.digest, receivers: digestRecipients(notify, receivers.names()) }
    },
    clock,
    store,
    targets: () => [
      ...targets.loaded().map(({ name, ledger }) => ({ name, created: ledger.sync.created })),
      ...overviews.others(),
    ],
  })

  /** What is delivered to a receiver, the most urgent first. */
  function roundsOf(receiver: Receiver): Round[] {
    const whileLeader =
      (round: Round): Round =>
      async () =>
        notifies() ? round() : undefined
    if (!takesMessages(receiver)) return [whileLeader(stateRound(receiver, attemptsOn(clock, 'state'), state))]
    const { notify, http } = config()
    const recipients = recipientsBy(notify.routes, receivers.names())
    const attempts = attemptsOn(clock)
    const outbox = outboxRound({ ...receiver, send: leaderOnly(receiver.send) }, attempts, {
      ...notify,
      store,
      clock,
      isNotified: (alert) => recipients(alert).includes(receiver.name),
      publicUrl: http.publicUrl,
      alerts: state.alerts,
      unwritten,
    })
    return [outage(receiver, attempts), whileLeader(outbox)]
  }

  /** A daemon that was suspended must not send what another one has sent since. */
  function leaderOnly<T>(send: (given: T) => Promise<void>): (given: T) => Promise<void> {
    return async (given) => {
      if (!ownership.isLeader())
        throw new DeliveryError('another daemon sends the notifications by now', { retryable: true })
      return send(given)
    }
  }

  return {
    run: (config$, draining$) =>
      runWhile(
        config$.pipe(map(({ notify, http }) => ({ notify, publicUrl: http.publicUrl }))),
        (_part, settingsDraining$) =>
          merge(
            ...receivers
              .all()
              .map((receiver) =>
                deliver(roundsOf(receiver), { clock, draining$: merge(settingsDraining$, draining$) }),
              ),
          ),
      ).pipe(map((delivery): DaemonEvent => ({ kind: 'delivery', delivery }))),
    digests: { every: 60, first: 0, leaderOnly: true, run: async () => (notifies() ? makeDigest() : undefined) },
  }
}

/** What there is to tell of all targets, also of those of other daemons. */
function stateOf({ config, clock, targets, overviews: { others } }: NotifyingOptions): State {
  const begun = clock.monotonic()
  return {
    alerts: () =>
      [
        ...targets.loaded().map(({ name, alerts }) => ({ name, alerts: alerts.values().toArray() })),
        ...others(),
      ].flatMap(({ name, alerts }) => alerts.map((instance): LiveAlert => ({ target: name, instance }))),
    isWorking: () => {
      const { interval } = config().poll
      const [loaded, elsewhere] = [targets.loaded(), others()]
      const isFresh = (age: number) => age <= OTHERS_STALE_AFTER_INTERVALS * interval
      return (
        loaded.every(
          ({ evaluationAge, health }) =>
            evaluationAge() <= STALE_AFTER_INTERVALS * interval && health().fault !== 'store',
        ) &&
        elsewhere.every(({ at, evaluationAge }) => isFresh(evaluationAge + clock.wall() - at)) &&
        // No daemon has loaded the rest of them yet.
        (loaded.length + elsewhere.length === targets.all().length || isFresh(clock.monotonic() - begun))
      )
    },
    interval: () => config().poll.interval,
  }
}
