import { map, merge, tap, type Observable } from 'rxjs'
import { OTHERS_STALE_INTERVALS, STALE_INTERVALS } from '../clock/intervals.ts'
import type { Config } from '../config/config.ts'
import { DeliveryError } from '../network/delivery-error.ts'
import { takesMessages } from '../notifications/configured-receivers.ts'
import { dailyDigest } from '../notifications/daily-digest.ts'
import type { Unwritten } from '../notifications/delivery/send-message.ts'
import { attemptsOn, type Attempts } from '../notifications/delivery/attempts.ts'
import { deliver, stateRound, outboxRound, type Round } from '../notifications/delivery/deliver.ts'
import { editRound } from '../notifications/delivery/edit.ts'
import type { Inhibited } from '../notifications/delivery/suppress.ts'
import { grouping, recipientsBy } from '../notifications/grouping.ts'
import type { Receiver, Send, State } from '../notifications/receiver.ts'
import { pastReport } from '../notifications/past-report.ts'
import { storeOutage } from '../notifications/store-outage.ts'
import { runWhile } from '../rx/run-while.ts'
import { setUpOf } from '../views/target.ts'
import { liveAlerts } from '../web/api/alerts.ts'
import type { DaemonEvent } from './daemon-event.ts'
import type { Job } from './jobs.ts'
import type { DaemonParts } from './open-parts.ts'

/** How often new targets are looked for. */
const PAST_REPORT_SECONDS = 5

/** A leader that does not know all targets yet would miss alerts that suppress others, and targets of the digest. */
const notifies = ({ ownership, overviews }: DaemonParts) => ownership.isLeader() && overviews.isComplete()

/** What was evaluated before this time (UNIX seconds) is old. */
export const freshFrom =
  ({ clock, config }: Pick<DaemonParts, 'clock' | 'config'>) =>
  () =>
    clock.wall() - STALE_INTERVALS * config().poll.interval

/** Delivers to all receivers of the active configuration. */
export function notifying(parts: DaemonParts, config$: Observable<Config>): Observable<DaemonEvent> {
  const { clock, receivers, failures, draining$: daemonDraining$ } = parts
  const roundsOf = rounds(parts)
  const part$ = config$.pipe(map(({ notify, alerts, http }) => ({ notify, alerts, publicUrl: http.publicUrl })))
  return runWhile(part$, (_part, settingsDraining$) => {
    const draining$ = merge(settingsDraining$, daemonDraining$)
    return merge(...receivers.all().map((receiver) => deliver(roundsOf(receiver), { clock, draining$ })))
  }).pipe(
    tap(failures.note),
    map((delivery): DaemonEvent => ({ kind: 'delivery', delivery })),
  )
}

/** What is delivered to a receiver, most urgent first. */
function rounds(parts: DaemonParts): (receiver: Receiver) => Round[] {
  const { config, clock, store, receivers, failures, targets, ownership, health } = parts
  const unwritten: Unwritten = new Map()
  const attemptsTo = new WeakMap<Receiver, Attempts>()
  const state = alertState(parts)
  const outage = storeOutage({
    problem: health.latest,
    clock,
    after: () => 2 * config().poll.interval,
  })

  function whileLeader(round: Round): Round {
    return async () => (notifies(parts) ? round() : undefined)
  }

  /** A daemon that was suspended must not send messages that another daemon has sent meanwhile. */
  function leaderOnly(send: Send): Send {
    return async (given) => {
      if (!ownership.isLeader())
        throw new DeliveryError('another daemon now sends the notifications', { retryable: true })
      return send(given)
    }
  }

  /** What failed for a former leader is in the hands of another daemon. */
  function forgetting({ name }: Receiver): Round {
    return async () => {
      if (!ownership.wasLeader()) failures.forget(name)
      return undefined
    }
  }

  /** A receiver that a reload changes is another one, with new attempts. */
  function newAttempts(receiver: Receiver): Attempts {
    failures.forget(receiver.name)
    const attempts = attemptsOn(clock, takesMessages(receiver) ? 'message' : 'state')
    attemptsTo.set(receiver, attempts)
    return attempts
  }

  return (receiver) => {
    const attempts = attemptsTo.get(receiver) ?? newAttempts(receiver)
    if (!takesMessages(receiver)) return [whileLeader(stateRound(receiver, attempts, state, ownership.expectLeader))]
    const { notify, http } = config()
    const recipients = recipientsBy(notify.routes, receivers.names())
    const sender = { ...receiver, send: leaderOnly(receiver.send) }
    const options = {
      ...notify,
      groupOf: grouping(notify, receiver.isLikeAlertmanager === true ? [] : config().alerts),
      targets: () => targets.all().length,
      freshFrom: freshFrom(parts),
      store,
      clock,
      isNotified: (alert: Inhibited) => recipients(alert).includes(receiver.name),
      publicUrl: http.publicUrl,
      alerts: state.alerts,
      unwritten,
    }
    const [outbox, edits] = [outboxRound(sender, attempts, options), editRound(sender, options)]
    return [forgetting(receiver), outage(receiver, attempts), whileLeader(outbox), whileLeader(edits)]
  }
}

/** Enqueues the daily digests, and the report of what happened before targets were set up. */
export function digests(parts: DaemonParts): Job[] {
  const { config, clock, store, receivers, targets, overviews } = parts
  const takesDigests = (one: Receiver) => takesMessages(one) && one.isLikeAlertmanager !== true
  const options = {
    clock,
    store,
    targets: () => [...targets.loaded().map(setUpOf), ...overviews.others()],
    settings: () => {
      const { notify, alerts } = config()
      const recipients = receivers.all().filter(takesDigests)
      return { digest: notify.digest, rules: alerts, receivers: recipients.map(({ name }) => name) }
    },
  }
  const jobOf = (every: number, work: () => Promise<void>): Job => {
    return { every, first: 0, leaderOnly: true, run: async () => (notifies(parts) ? work() : undefined) }
  }
  return [jobOf(60, dailyDigest(options)), jobOf(PAST_REPORT_SECONDS, () => pastReport(options))]
}

/** The state of all targets, including those of other daemons. */
function alertState({ config, clock, targets, ownership, overviews: { others } }: DaemonParts): State {
  const begun = clock.monotonic()
  return {
    alerts: () => liveAlerts({ own: targets.loaded, others }),
    isWorking: () => {
      const { interval } = config().poll
      const [loaded, elsewhere] = [targets.loaded(), others()]
      const isFresh = (age: number) => age <= OTHERS_STALE_INTERVALS * interval
      return (
        loaded.every(
          ({ evaluationAge, health }) => evaluationAge() <= STALE_INTERVALS * interval && health().fault !== 'store',
        ) &&
        elsewhere.every(({ at, evaluationAge }) => isFresh(evaluationAge + clock.wall() - at)) &&
        // No daemon has loaded the remaining targets yet.
        (loaded.length + elsewhere.length === targets.all().length || isFresh(clock.monotonic() - begun))
      )
    },
    interval: () => config().poll.interval,
    membership: ownership.membership,
  }
}
