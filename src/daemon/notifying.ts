import { EMPTY, ignoreElements, map, merge, type Observable } from 'rxjs'
import { livesOf } from '../alerts/alert.ts'
import { onceEach } from '../alerts/once-each.ts'
import { OTHERS_STALE_INTERVALS, STALE_INTERVALS } from '../clock/intervals.ts'
import type { Config } from '../config/config.ts'
import { DeliveryError } from '../network/delivery-error.ts'
import { takesMessages } from '../notifications/configured-receivers.ts'
import { backOff, type BackOff } from '../notifications/delivery/back-off.ts'
import { deliver, stateRound, type Round } from '../notifications/delivery/deliver.ts'
import { readNotified, type Receivers } from '../notifications/delivery/notified.ts'
import { nowReader } from '../notifications/delivery/now.ts'
import { messageRound, type MessagesOptions } from '../notifications/delivery/message-round.ts'
import { suppressionNotes } from '../notifications/delivery/suppression-notes.ts'
import { newPauses, type Pauses } from '../notifications/delivery/pauses.ts'
import { reportRound } from '../notifications/delivery/reports.ts'
import { grouping, recipientsBy, type Routable } from '../notifications/grouping.ts'
import type { MessageReceiver, Receiver, Send, State } from '../notifications/receiver.ts'
import { reportMaker } from '../notifications/report-maker.ts'
import { storeOutage } from '../notifications/store-outage.ts'
import { bulletinLine } from '../notifications/text/bulletin.ts'
import type { ReceiverState } from '../store/store.ts'
import { runWhile } from '../rx/run-while.ts'
import { StoreError } from '../store/store-error.ts'
import type { Failure } from '../views/receiver-status.ts'
import { setUpOf } from '../views/target.ts'
import type { DaemonEvent } from './daemon-event.ts'
import type { DaemonParts } from './open-parts.ts'

/** A leader that does not know all targets yet would miss alerts that suppress others, and targets of a report. */
const notifies = ({ ownership, overviews }: DaemonParts) => ownership.isLeader() && overviews.isComplete()

/** What was evaluated before this time (UNIX seconds) is old. */
export const freshFrom =
  ({ clock, config }: Pick<DaemonParts, 'clock' | 'config'>) =>
  () =>
    clock.wall() - STALE_INTERVALS * config().poll.interval

/** Delivers to all receivers of the active configuration. Without a receiver of messages, a report is a line of the log. */
export function notifying(parts: DaemonParts, config$: Observable<Config>): Observable<DaemonEvent> {
  const { clock, receivers, draining$: daemonDraining$ } = parts
  const told = toldReceivers(parts)
  const roundsOf = rounds(parts, told)
  const part$ = config$.pipe(
    map(({ notify, alerts, http, targets }) => {
      return { notify, alerts, publicUrl: http.publicUrl, targets: targets.map(({ name }) => name) }
    }),
  )
  return runWhile(part$, (_part, settingsDraining$) => {
    const draining$ = merge(settingsDraining$, daemonDraining$)
    told.forget()
    const { of, log } = roundsOf()
    const all = receivers.all()
    const logged$ = all.some(takesMessages) ? EMPTY : deliver([log], { clock, draining$ }).pipe(ignoreElements())
    return merge(logged$, ...all.map((receiver) => deliver(of(receiver), { clock, draining$ })))
  }).pipe(map((delivery): DaemonEvent => ({ kind: 'delivery', delivery })))
}

/** What the receivers were told, read again whenever another daemon may have been the leader, and after a reload. */
function toldReceivers({ clock, store, receivers, ownership }: DaemonParts) {
  let known: { membership: string | undefined; told: Promise<Receivers> } | undefined
  let last: Receivers | undefined

  async function read(): Promise<Receivers> {
    for (const one of last?.values() ?? [])
      await one.flush().catch((error: unknown) => {
        if (!(error instanceof StoreError && error.kind === 'stale')) throw error
      })
    return (last = await readNotified(receivers.names(), { clock, store }))
  }

  const forget = () => void (known = undefined)
  return {
    forget,
    /** @throws {StoreError} */
    all: (): Promise<Receivers> => {
      const membership = ownership.membership()
      if (known?.membership !== membership) known = undefined
      known ??= { membership, told: read() }
      const { told } = known
      // oxlint-disable-next-line promise/prefer-await-to-then -- whoever waits gets the error, and the next one reads again
      told.catch(() => known?.told === told && forget())
      return told
    },
  }
}

/** What the receivers of the daemon were told. */
type Told = ReturnType<typeof toldReceivers>

/** The log as a receiver of reports. What it has got is not stored. */
function logOfReports({ clock, log }: DaemonParts) {
  const now = clock.wall()
  let state: ReceiverState = { added: now, cursor: now, reports: {}, setUps: {} }
  const notified = { state: () => state, set: async (next: ReceiverState) => void (state = next) }
  const send: Send = async (message) => {
    if (message.kind === 'report') log.info(bulletinLine(message))
  }
  return { receiver: { name: 'log', send }, pauses: newPauses(clock), notified: async () => notified }
}

/** What is delivered to a receiver, most urgent first, and the reports for the log. */
function rounds(parts: DaemonParts, told: Told): () => { of: (receiver: Receiver) => Round[]; log: Round } {
  const { config, clock, store, ownership, health, failures } = parts
  const pausesOf = new WeakMap<Receiver, Pauses>()
  const pauseOf = new WeakMap<Receiver, BackOff>()
  const state = alertState(parts)
  const outage = storeOutage({ problem: health.latest, clock, after: () => 2 * config().poll.interval })
  const inLog = logOfReports(parts)
  const make = reportMaker({ clock, store, targets: parts.targets.all })
  const setUps = () => [...parts.targets.loaded().map(setUpOf), ...parts.overviews.others()]

  /** What is stale is read again. */
  const whileLeader =
    (round: Round): Round =>
    async () => {
      if (!notifies(parts)) return []
      return round().catch((error: unknown) => {
        if (error instanceof StoreError && error.kind === 'stale') told.forget()
        throw error
      })
    }

  /** What failed for a former leader is in the hands of another daemon. */
  const watched = ({ name }: Receiver, failure: () => Failure | undefined): Round => {
    return async () => {
      if (ownership.wasLeader()) failures.watch(name, failure)
      else failures.forget(name)
      return []
    }
  }

  return () => {
    const { notify } = config()
    const routing = routingOf(parts)
    const read = nowReader({ clock, store, alerts: state.alerts, mutes: notify.mutes, prepare: routing.prepare })
    const now = async () => read(Math.min(...(await told.all()).values().map((one) => one.state().cursor)))
    const optionsOf = messagesOptions(parts, told, { now, routing })
    const reporting = { clock, reports: notify.reports, targets: setUps, make }
    const log = reportRound(inLog.receiver, inLog.pauses, { ...reporting, notified: inLog.notified })
    const of = (receiver: Receiver) => {
      if (!takesMessages(receiver)) {
        const pause = kept(pauseOf, receiver, () => backOff(clock, 'state'))
        const failure = () => failureOf(pause, clock.wall())
        return [watched(receiver, failure), whileLeader(stateRound(receiver, pause, state, ownership.expectLeader))]
      }
      const pauses = kept(pausesOf, receiver, () => newPauses(clock))
      const sender = { ...receiver, send: leaderOnly(receiver.send, ownership) }
      const options = optionsOf(receiver)
      const messages = messageRound(sender, pauses, options)
      const reports = reportRound(sender, pauses, { ...reporting, notified: options.notified })
      return [
        watched(receiver, pauses.failure),
        outage(receiver, pauses.outage),
        ...[messages, reports].map(whileLeader),
      ]
    }
    return { of, log: whileLeader(log) }
  }
}

/** A receiver that a reload changes is another one, with new pauses. */
function kept<Kept>(map: WeakMap<Receiver, Kept>, receiver: Receiver, make: () => Kept): Kept {
  const known = map.get(receiver) ?? make()
  map.set(receiver, known)
  return known
}

/** A daemon that was suspended must not send messages that another daemon has sent meanwhile. */
function leaderOnly(send: Send, { isLeader }: DaemonParts['ownership']): Send {
  return async (given) => {
    if (!isLeader()) throw new DeliveryError('another daemon now sends the notifications', { retryable: true })
    return send(given)
  }
}

/** Which receivers are notified of an alert, and in which group, by the configuration of now. */
function routingOf({ config, receivers }: DaemonParts) {
  const { notify, alerts: rules } = config()
  const recipients = onceEach(recipientsBy(notify.routes, receivers.names()))
  const groupOf = grouping(notify, rules)
  return { recipients, groupOf, prepare: (alert: Routable) => void [recipients(alert), groupOf(alert)] }
}

/** What the messages to a receiver are made with, by the configuration of now. */
function messagesOptions(
  parts: DaemonParts,
  told: Told,
  { now, routing }: { now: MessagesOptions['now']; routing: ReturnType<typeof routingOf> },
): (receiver: MessageReceiver) => MessagesOptions {
  const { config, clock, store, targets } = parts
  const { notify, http, alerts: rules } = config()
  const { recipients, groupOf } = routing
  const note = suppressionNotes(store)
  return ({ name }) => ({
    note,
    clock,
    ...notify,
    groupOf,
    rules,
    targets: () => targets.all().length,
    fleet: () => config().targets,
    freshFrom: freshFrom(parts),
    isSent: (alert: Routable) => recipients(alert).includes(name),
    publicUrl: http.publicUrl,
    notified: async () => (await told.all()).get(name)!,
    now,
  })
}

/** What cannot be delivered to a receiver of the state. */
function failureOf(pause: BackOff, now: number): Failure | undefined {
  const failed = pause.failed()
  return failed && { ...failed, next: now + pause.left(), pending: 1, oldest: failed.since }
}

/** The state of all targets, including those of other daemons. */
function alertState({ config, clock, targets, ownership, overviews: { others } }: DaemonParts): State {
  const begun = clock.monotonic()
  return {
    alerts: () => livesOf([...targets.loaded(), ...others()]),
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
