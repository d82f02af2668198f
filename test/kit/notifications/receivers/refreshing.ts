import type { Observable } from 'rxjs'
import type { Clock } from '../../../../src/clock/clock.ts'
import { backOff } from '../../../../src/notifications/delivery/back-off.ts'
import { deliver, stateRound, type Delivery } from '../../../../src/notifications/delivery/deliver.ts'
import type { State, StateReceiver } from '../../../../src/notifications/receiver.ts'

/** A receiver of the state that is brought up to date as the daemon does it. */
export function refreshing(
  receiver: StateReceiver,
  state: Partial<State>,
  { clock, draining$ }: { clock: Clock; draining$: Observable<unknown> },
): Observable<Delivery> {
  const whole: State = { alerts: () => [], isWorking: () => true, interval: () => 15, ...state }
  return deliver([stateRound(receiver, backOff(clock, 'state'), whole, async () => undefined)], { clock, draining$ })
}
