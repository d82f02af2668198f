import { describe, expect, test } from 'vitest'
import type { Notification } from '../../src/alerts/notification.ts'
import { gather, outcomeOf, type Waiting } from '../../src/notify/gather.ts'
import { AT, changeOf } from './outbox-sending.ts'

const GROUP_WAIT = 10

type Setting = { name?: string; seconds?: number; breach?: 'above' | 'below' }

/**
 * Changes of an alert that wait, a minute apart: `f` firing, `m` a reminder, `r` resolved, `c` closed; a capital was claimed.
 * The latest was a minute ago.
 */
function waiting(changes: string, { name = 'A', seconds = 60, breach = 'above' }: Setting = {}): Waiting {
  const kinds = { f: 'firing', m: 'reminder', r: 'resolved', c: 'closed' } as const
  let known: Pick<Notification, 'since' | 'firingSince' | 'peak'> | undefined
  const told = changes.split('').map((change, i) => {
    const at = AT - seconds * (changes.length - i)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const kind = kinds[change.toLowerCase() as keyof typeof kinds]
    if (kind === 'firing') known = { since: at, firingSince: at, peak: (i + 1) / 10 }
    return changeOf({ name }, kind, at, known, { breach })
  })
  const isClaimed = (change: string) => change !== change.toLowerCase()
  return {
    entries: told.map((content, i) => ({ id: i + 1, content, claimed: isClaimed(changes[i]!) })),
    changes: told,
  }
}

/** What becomes of it, in a word or two. */
function said(changes: string): string {
  const outcome = outcomeOf(waiting(changes), { groupWait: GROUP_WAIT })
  if (outcome.kind === 'passed') return `passed ×${outcome.passed.times}`
  if (outcome.kind === 'nothing') return 'nothing'
  const { told, isNew } = outcome
  return `${isNew ? 'new ' : ''}${told.notification.kind}${told.cameAndWent === 0 ? '' : ` +${told.cameAndWent}`}`
}

describe('what is said of an alert', () => {
  test.each([
    ['it fires', 'f', 'new firing'],
    ['it fires, with a reminder that was missed', 'fm', 'new firing'],
    ['it is to be told of again', 'm', 'reminder'],
    ['several reminders were missed', 'mm', 'reminder'],
    ['it is over', 'r', 'resolved'],
    ['it is closed', 'c', 'closed'],
    ['a reminder was missed and it is over', 'mr', 'resolved'],
    ['it came and went unheard', 'fr', 'passed ×1'],
    ['it came and was closed unheard', 'fc', 'passed ×1'],
    ['it came and went unheard again and again', 'frfmrfc', 'passed ×3'],
    ['it came and went unheard, and fires', 'frf', 'new firing +1'],
    ['it was over and fires again', 'rf', 'firing +1'],
    ['it was over and fires again, with a reminder', 'rfm', 'firing +1'],
    ['it was over, and came and went', 'rfrfr', 'resolved +2'],
    ['its firing may have been told', 'F', 'firing'],
    ['its firing may have been told, a reminder was missed', 'Fm', 'firing'],
    ['its reminder may have been told', 'M', 'reminder'],
    ['its end may have been told', 'R', 'resolved'],
    ['its firing may have been told, and it is over', 'Fr', 'resolved'],
    ['its firing may have been told, and it came and went again', 'Frfr', 'resolved +1'],
    ['it may have been told that it came and went', 'FR', 'resolved'],
    ['its firing may have been told, and it fires anew', 'Frf', 'firing +1'],
    ['a firing was left over from before its target was reset', 'ffr', 'passed ×1'],
    ['a firing was left over, and it fires', 'ff', 'new firing'],
  ])('%s: %s is %s', (_case, changes, what) => {
    expect(said(changes)).toBe(what)
  })

  test('is what it was like at last', () => {
    const all = waiting('frf')
    const outcome = outcomeOf(all, { groupWait: GROUP_WAIT })
    expect(outcome).toMatchObject({ told: { notification: all.changes[2] }, firstAt: all.changes[0]!.at })
  })

  test.each([
    ['above', 0.3],
    ['below', 0.1],
  ] as const)('that came and went is the latest firing, the worst value and the last end: %s', (breach, peak) => {
    const all = waiting('frfr', { breach })
    const [, , firing, end] = all.changes
    const outcome = outcomeOf(all, { groupWait: GROUP_WAIT })
    expect(outcome).toEqual({ kind: 'passed', passed: { notification: firing, times: 2, peak, over: end!.at } })
  })

  test.each([
    [GROUP_WAIT - 1, 'nothing'],
    [GROUP_WAIT, 'passed'],
  ])('that came and went within %d s is %s', (seconds, kind) => {
    expect(outcomeOf(waiting('frfr', { seconds }), { groupWait: GROUP_WAIT }).kind).toBe(kind)
  })

  test('counts each time, where one of them lasted', () => {
    const [brief, long] = [waiting('fr', { seconds: 1 }), waiting('fr')]
    const both = { entries: [...long.entries, ...brief.entries], changes: [...long.changes, ...brief.changes] }
    expect(outcomeOf(both, { groupWait: GROUP_WAIT })).toMatchObject({ kind: 'passed', passed: { times: 2 } })
  })
})

describe('a message', () => {
  const options = (now: number) => ({ now, groupWait: GROUP_WAIT })
  const young = (name: string) => waiting('f', { name, seconds: 1 })
  const old = (name: string) => waiting('f', { name, seconds: GROUP_WAIT })

  /** What goes out now of these. */
  const goes = (all: Waiting[], now = AT) => {
    const gathered = gather(all, options(now))
    return gathered?.message?.alerts.map(({ notification: { kind, key } }) => `${kind} ${key}`)
  }

  test('waits for siblings of a new firing', () => {
    expect(gather([young('A')], options(AT))).toBeUndefined()
    expect(gather([], options(AT))).toBeUndefined()
  })

  test('takes the younger siblings along', () => {
    expect(goes([old('A'), young('B')])).toEqual(['firing A', 'firing B'])
  })

  test('about something else goes at once, and takes no new firing along', () => {
    expect(goes([young('A'), waiting('r', { name: 'B', seconds: 1 })])).toEqual(['resolved B'])
    expect(goes([young('A'), waiting('m', { name: 'B', seconds: 1 })])).toEqual(['reminder B'])
  })

  test('names what fires first', () => {
    const all = [waiting('r', { name: 'A' }), old('B'), waiting('c', { name: 'C' }), waiting('m', { name: 'D' })]
    expect(goes(all)).toEqual(['firing B', 'reminder D', 'resolved A', 'closed C'])
  })

  test('settles all entries of what it speaks of', () => {
    const entries = waiting('frf').entries.map((entry) => ({ ...entry, id: entry.id + 10 }))
    const all = [{ ...waiting('frf'), entries }, waiting('fr', { name: 'B' })]
    expect(gather(all, options(AT))).toMatchObject({ ids: [11, 12, 13, 1, 2], message: { passed: [{ times: 1 }] } })
  })

  test('comes after what needs none was taken out by itself', () => {
    const brief = waiting('fr', { name: 'B', seconds: 1 })
    expect(gather([old('A'), brief], options(AT))).toEqual({ ids: [1, 2], message: undefined })
  })

  test('is not held up by a clock that was set back', () => {
    expect(goes([young('A')], AT - 86_400)).toEqual(['firing A'])
  })
})
