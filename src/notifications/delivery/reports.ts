import type { Clock } from '../../clock/clock.ts'
import { onlyStoreErrors } from '../../store/store-error.ts'
import { dueReport, stateAfter, type DueReport, type SetUpTarget } from '../due-report.ts'
import type { ReportMessage } from '../message.ts'
import type { NotifyConfig } from '../notify-section.ts'
import type { MessageReceiver } from '../receiver.ts'
import type { Delivery, Round } from './deliver.ts'
import type { Notified } from './notified.ts'
import type { Pauses } from './pauses.ts'

export type ReportsOptions = {
  clock: Pick<Clock, 'wall'>
  reports: NotifyConfig['reports']
  /** All targets. */
  targets: () => readonly SetUpTarget[]
  /** Makes a report; undefined while it waits. @throws {StoreError} */
  make: (due: DueReport) => Promise<ReportMessage | undefined>
  /** What the receiver was told. @throws {StoreError} */
  notified: () => Promise<Pick<Notified, 'state' | 'set'>>
}

/** Sends the reports that are due and that the receiver has not got, one a round. */
export function reportRound(receiver: MessageReceiver, pauses: Pauses, options: ReportsOptions): Round {
  const { clock, targets, make } = options
  const { name } = receiver
  const reports = options.reports.filter((report) => report.receivers?.includes(name) !== false)
  let isSending = false

  async function send(due: DueReport, notified: Pick<Notified, 'state' | 'set'>): Promise<Delivery | undefined> {
    const message = await make(due)
    if (message === undefined) return undefined
    const attempt = await pauses.reports.attempt(() => receiver.send(message))
    if (attempt.outcome === 'sent') {
      // After a reload it is another one.
      const known = await options.notified().catch(onlyStoreErrors(notified))
      await known.set(stateAfter(known.state(), due, clock.wall()))
    }
    return { receiver: name, message, ...attempt }
  }

  return async () => {
    if (isSending) return []
    if (pauses.whole.left() > 0 || pauses.reports.left() > 0) return []
    const notified = await options.notified()
    const due = dueReport(notified.state(), { reports, targets: targets(), now: clock.wall() })
    if (due === undefined) return []
    isSending = true
    const sending = send(due, notified).catch(onlyStoreErrors(undefined))
    return [sending.finally(() => (isSending = false))]
  }
}
