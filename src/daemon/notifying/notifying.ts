import { EMPTY, ignoreElements, map, merge, type Observable } from 'rxjs'
import type { Config } from '../../config/config.ts'
import { takesMessages } from '../../notifications/configured-receivers.ts'
import { deliver } from '../../notifications/delivery/deliver.ts'
import { keyOf } from '../../notifications/receiver.ts'
import { runWhile } from '../../rx/run-while.ts'
import type { DaemonEvent } from '../daemon-event.ts'
import type { DaemonParts } from '../parts.ts'
import { notifiedReceivers } from './notified-receivers.ts'
import { rounds } from './rounds.ts'

/** Delivers to all receivers of the active configuration. Without a receiver of messages, a report is a line of the log. */
export function notifying(parts: DaemonParts, config$: Observable<Config>): Observable<DaemonEvent> {
  const { clock, receivers, failures, draining$: daemonDraining$ } = parts
  const notified = notifiedReceivers(parts)
  const roundsOf = rounds(parts, notified)
  const part$ = config$.pipe(
    map(({ notify, alerts, http, targets }) => {
      return { notify, alerts, publicUrl: http.publicUrl, targets: targets.map(({ name }) => name) }
    }),
  )
  return runWhile(part$, (_part, settingsDraining$) => {
    const draining$ = merge(settingsDraining$, daemonDraining$)
    notified.forget()
    failures.clear()
    const { of, log } = roundsOf()
    const all = receivers.all()
    const logged$ = all.some(takesMessages) ? EMPTY : deliver([log], { clock, draining$ }).pipe(ignoreElements())
    const deliveries$ = all.map((receiver) => {
      const key = keyOf(receiver)
      return deliver(of(receiver), { clock, draining$ }).pipe(map((one) => ({ ...one, key })))
    })
    return merge(logged$, ...deliveries$)
  }).pipe(map((delivery): DaemonEvent => ({ kind: 'delivery', delivery })))
}
