import { DeliveryError } from '../../network/delivery-error.ts'
import { takesMessages } from '../../notifications/configured-receivers.ts'
import { backOff, type BackOff } from '../../notifications/delivery/back-off.ts'
import { stateRound, type Round } from '../../notifications/delivery/deliver.ts'
import { messageRound } from '../../notifications/delivery/message-round.ts'
import { nowReader } from '../../notifications/delivery/now.ts'
import { newAccount, newPauses, type Account, type Pauses } from '../../notifications/delivery/pauses.ts'
import { reportRound } from '../../notifications/delivery/reports.ts'
import type { MessageReceiver, Receiver } from '../../notifications/receiver.ts'
import { reportMaker } from '../../notifications/report-maker.ts'
import { storeOutage } from '../../notifications/store-outage.ts'
import { StoreError } from '../../store/store-error.ts'
import type { Failure } from '../../views/receiver-status.ts'
import { setUpOf } from '../../views/target.ts'
import type { DaemonParts } from '../parts.ts'
import { alertState } from './alert-state.ts'
import { messagesOptions, routingOf } from './messages-options.ts'
import type { NotifiedReceivers } from './notified-receivers.ts'
import { logOfReports } from './reports-in-log.ts'

/** A leader that does not know all targets yet would miss alerts that suppress others, and targets of a report. */
const notifies = ({ ownership, overviews }: DaemonParts) => ownership.isLeader() && overviews.isComplete()

/** What is delivered to a receiver, most urgent first, and the reports for the log. */
export function rounds(
  parts: DaemonParts,
  notified: NotifiedReceivers,
): () => { of: (receiver: Receiver) => Round[]; log: Round } {
  const { config, clock, store, ownership, health, failures } = parts
  const pausesOf = new WeakMap<Receiver, Pauses>()
  const pauseOf = new WeakMap<Receiver, BackOff>()
  const accountOf = accountsOf(parts)
  const state = alertState(parts)
  const outage = storeOutage({ problem: health.latest, clock, after: () => 2 * config().poll.interval })
  const inLog = logOfReports(parts)
  const make = reportMaker({ clock, store, targets: parts.targets.all, rules: () => config().alerts })
  const setUps = () => [...parts.targets.loaded().map(setUpOf), ...parts.overviews.others()]

  /** What is stale is read again. */
  const whileLeader =
    (round: Round): Round =>
    async () => {
      if (!notifies(parts)) return []
      return round().catch((error: unknown) => {
        if (error instanceof StoreError && error.kind === 'stale') notified.forget()
        throw error
      })
    }

  /** What failed for a former leader is in the hands of another daemon. */
  const watched = (receiver: Receiver, failure: () => Failure | undefined): Round => {
    return async () => {
      if (ownership.wasLeader()) failures.watch(receiver, failure)
      else failures.forget(receiver)
      return []
    }
  }

  return () => {
    const { notify } = config()
    const routing = routingOf(parts)
    const read = nowReader({ clock, store, alerts: state.alerts, mutes: notify.mutes, prepare: routing.prepare })
    const now = async () => read(Math.min(...(await notified.all()).values().map((one) => one.state().cursor)))
    const optionsOf = messagesOptions(parts, notified, { now, routing })
    const reporting = { clock, reports: notify.reports, targets: setUps, make }
    const log = reportRound(inLog.receiver, inLog.pauses, { ...reporting, notified: inLog.notified })
    const of = (receiver: Receiver) => {
      if (!takesMessages(receiver)) {
        const pause = kept(pauseOf, receiver, () => backOff(clock, 'state'))
        const failure = () => failureOf(pause, clock.wall())
        return [watched(receiver, failure), whileLeader(stateRound(receiver, pause, state, ownership.expectLeader))]
      }
      const account = accountOf(receiver)
      const pauses = kept(pausesOf, receiver, () => newPauses(clock, account))
      const sender = onlyAsLeader(receiver, ownership)
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

/** The accounts of receivers. They outlive a reload. */
function accountsOf({ clock, receivers }: DaemonParts) {
  const accounts = new Map<string, Account>()
  return ({ account: name }: MessageReceiver): Account => {
    if (name === undefined) return newAccount(clock)
    const account = accounts.get(name) ?? newAccount(clock)
    accounts.set(name, account)
    account.members = receivers.all().filter((one) => takesMessages(one) && one.account === name).length
    return account
  }
}

/** A receiver that a reload changes is another one, with new pauses. */
function kept<Kept>(map: WeakMap<Receiver, Kept>, receiver: Receiver, make: () => Kept): Kept {
  const known = map.get(receiver) ?? make()
  map.set(receiver, known)
  return known
}

/** A daemon that was suspended must not send messages that another daemon has sent meanwhile. */
function onlyAsLeader(receiver: MessageReceiver, { isLeader }: DaemonParts['ownership']): MessageReceiver {
  const only =
    <Given, Answer>(send: (given: Given) => Promise<Answer>) =>
    async (given: Given) => {
      if (!isLeader()) throw new DeliveryError('another daemon now sends the notifications', { retryable: true })
      return send(given)
    }
  const { send, edit } = receiver
  return { ...receiver, send: only(send), ...(edit && { edit: only(edit) }) }
}

/** What cannot be delivered to a receiver of the state. */
function failureOf(pause: BackOff, now: number): Failure | undefined {
  const failed = pause.failed()
  return failed && { ...failed, next: now + pause.left(), pending: 1, oldest: failed.since }
}
