import { describe, expect, test } from 'vitest'
import { isKnown, mergeChanges } from '../../../../src/notifications/delivery/waiting-alert.ts'
import { POLL_AGE } from '../../../kit/alerts/sample-rules.ts'
import { waiting } from './waiting-alert.ts'

/** What becomes of it, in a word or two. */
function text(changes: string): string {
  const alert = waiting(changes)
  const merged = mergeChanges(alert)
  if (merged === undefined) return 'nothing'
  if ('times' in merged) return `flapped ×${merged.times}`
  const { notification, flaps } = merged
  const isNew = notification.kind === 'firing' && !isKnown(alert)
  return `${isNew ? 'new ' : ''}${notification.kind}${flaps === 0 ? '' : ` +${flaps}`}`
}

describe('the merged changes of an alert', () => {
  test.each([
    ['it fires', 'f', 'new firing'],
    ['it fires, with a reminder that was missed', 'fm', 'new firing'],
    ['a reminder is due', 'm', 'reminder'],
    ['several reminders were missed', 'mm', 'reminder'],
    ['it has ended', 'r', 'resolved'],
    ['it expired', 'c', 'expired'],
    ['a reminder was missed and it has ended', 'mr', 'resolved'],
    ['it fired and resolved between deliveries', 'fr', 'flapped ×1'],
    ['it fired and expired between deliveries', 'fc', 'flapped ×1'],
    ['it flapped between deliveries', 'frfmrfc', 'flapped ×3'],
    ['it fired and resolved between deliveries, and fires', 'frf', 'new firing +1'],
    ['it had ended and fires again', 'rf', 'firing +1'],
    ['it had ended and fires again, with a reminder', 'rfm', 'firing +1'],
    ['it had ended, and flapped', 'rfrfr', 'resolved +2'],
    ['its firing may have been notified', 'F', 'firing'],
    ['its firing may have been notified, a reminder was missed', 'Fm', 'firing'],
    ['its reminder may have been notified', 'M', 'reminder'],
    ['its end may have been notified', 'R', 'resolved'],
    ['its firing may have been notified, and it has ended', 'Fr', 'resolved'],
    ['its firing may have been notified, and it flapped', 'Frfr', 'resolved +1'],
    ['it may have been notified that it fired and resolved', 'FR', 'resolved'],
    ['its firing may have been notified, and it fires again', 'Frf', 'firing +1'],
    ['a firing was left over from before its target was reset', 'ffr', 'flapped ×1'],
    ['a firing was left over, and it fires', 'ff', 'new firing'],
  ])('%s: %s is %s', (_case, changes, what) => {
    expect(text(changes)).toBe(what)
  })

  test('has its last values', () => {
    const all = waiting('frf')
    const merged = mergeChanges(all)
    expect(merged).toMatchObject({ notification: all.entries[2]?.content })
  })

  test.each([
    ['above', 0.3],
    ['below', 0.1],
  ] as const)('that flapped has the latest firing, the worst value and the last end: %s', (breach, peak) => {
    const all = waiting('frfr', { breach })
    const [, , firing, end] = all.entries.map(({ content }) => content)
    const merged = mergeChanges(all)
    expect(merged).toEqual({ notification: firing, times: 2, peak, endedAt: end!.at })
  })

  test('of failed polls or requests that is over, and that nobody knows of, is nothing', () => {
    expect(mergeChanges(waiting('fr', { name: POLL_AGE.name }))).toBeUndefined()
    expect(mergeChanges(waiting('Fr', { name: POLL_AGE.name }))).toMatchObject({
      notification: { kind: 'resolved' },
    })
  })

  test('counts each time, where one of them lasted', () => {
    const [brief, long] = [waiting('fr', { seconds: 1 }), waiting('fr')]
    const both = { entries: [...long.entries, ...brief.entries] }
    expect(mergeChanges(both)).toMatchObject({ times: 2 })
  })
})
