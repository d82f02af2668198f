import { entriesOf, type ReadyAlert, type Stage } from './batch.ts'
import { mergeChanges } from './merge-changes.ts'

/**
 * A new alert waits for others, and is sent together with younger ones. Everything else is sent at once. Alerts that resolved
 * before this wait is over are discarded.
 *
 * @param groupWait seconds
 */
export function wait(groupWait: number): Stage {
  return (batch, { now }) => {
    if (batch.kind !== 'alerts') return batch
    const all = batch.alerts.map((alert): ReadyAlert => ({ alert, merged: mergeChanges(alert, groupWait) }))
    const isDue = ({ merged }: ReadyAlert) => {
      if (merged.kind !== 'update' || !merged.isNew) return true
      const age = now - merged.firstAt
      // If the clock was set back since, nobody knows how long the alert has waited.
      return age < 0 || age >= groupWait
    }
    const ready = all.some((each) => isNew(each) && isDue(each)) ? all : all.filter(isDue)
    if (ready.length === 0) return undefined
    // Entries that the message does not contain are discarded, not claimed: a claimed entry counts as delivered.
    const unnotified = ready.filter(({ merged }) => merged.kind === 'nothing')
    if (unnotified.length === 0) return { kind: 'ready', alerts: ready }
    return { kind: 'discarded', entries: entriesOf(unnotified.map(({ alert }) => alert)) }
  }
}

function isNew({ merged }: ReadyAlert): boolean {
  return merged.kind === 'update' && merged.isNew
}
