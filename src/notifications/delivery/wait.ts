import { entriesOf, type ReadyAlert, type Stage } from './batch.ts'
import { outcomeOf } from './outcome.ts'

/**
 * A new alert waits for others, and when it goes out takes the younger ones along; everything else goes at once. Alerts
 * that resolved sooner than that are dropped.
 *
 * @param groupWait seconds
 */
export function wait(groupWait: number): Stage {
  return (batch, { now }) => {
    if (batch.kind !== 'alerts') return batch
    const all = batch.alerts.map((alert): ReadyAlert => ({ alert, outcome: outcomeOf(alert, groupWait) }))
    const isDue = ({ outcome }: ReadyAlert) => {
      if (outcome.kind !== 'update' || !outcome.isNew) return true
      const age = now - outcome.firstAt
      // Where the clock was set back since, there is no telling how long it has waited.
      return age < 0 || age >= groupWait
    }
    const ready = all.some((each) => isNew(each) && isDue(each)) ? all : all.filter(isDue)
    if (ready.length === 0) return undefined
    // What the message does not speak of is not claimed with it: a claimed entry counts as delivered.
    const silentOutcomes = ready.filter(({ outcome }) => outcome.kind === 'nothing')
    if (silentOutcomes.length === 0) return { kind: 'ready', alerts: ready }
    return { kind: 'dropped', entries: entriesOf(silentOutcomes.map(({ alert }) => alert)) }
  }
}

function isNew({ outcome }: ReadyAlert): boolean {
  return outcome.kind === 'update' && outcome.isNew
}
