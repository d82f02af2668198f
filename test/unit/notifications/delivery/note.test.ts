import { describe, expect, test } from 'vitest'
import { readNotes, type EpisodeNote, type Suppression } from '../../../../src/alerts/episode.ts'
import type { Notification } from '../../../../src/alerts/notification.ts'
import { deliveryNotes, suppressionNotes } from '../../../../src/notifications/delivery/send-message.ts'
import { StoreError } from '../../../../src/store/store-error.ts'
import type { OutboxContent, OutboxEntry } from '../../../../src/store/store.ts'
import { AT, changeOf } from '../../../kit/notifications/delivery/sending.ts'

const A = { name: 'A' }
const B = { name: 'B' }

/** A change of an alert that fires since so many seconds after AT. */
const change = (kind: Notification['kind'], since = 0, name = A) =>
  changeOf(name, kind, AT + 1000, { since: AT, firingSince: AT + since, peak: 1 })

const entries = (...contents: OutboxContent[]): OutboxEntry[] =>
  contents.map((content, id) => ({ id, content, claimed: false }))

/** In short: the alert, since when it fires, and what became of its messages. */
const inShort = (notes: readonly EpisodeNote[]) =>
  notes.map(({ key, since, lines }) => {
    const { notices } = readNotes(lines)
    return `${key} ${since - AT}: ${notices.map(({ kind, outcome }) => `${kind} ${outcome}`).join(', ')}`
  })
const noted = (all: readonly OutboxEntry[]) =>
  inShort(deliveryNotes(all, { receiver: 'slack', at: AT + 2000, outcome: 'sent' }))

describe('a message is noted', () => {
  test('of each alert in it, with receiver, time and outcome', () => {
    const notes = deliveryNotes(entries(change('firing'), change('firing', 0, B)), {
      receiver: 'slack',
      at: AT + 2000,
      outcome: 'dropped',
    })
    expect(notes.map(({ target, key, since }) => [target, key, since])).toEqual([
      ['production', 'A', AT],
      ['production', 'B', AT],
    ])
    expect(readNotes(notes[0]!.lines).notices).toEqual([
      { receiver: 'slack', at: AT + 2000, outcome: 'dropped', kind: 'firing' },
    ])
  })

  test('once of what it says at once: that an alert began, and that it ended', () => {
    expect(noted(entries(change('firing'), change('reminder'), change('reminder')))).toEqual(['A 0: firing sent'])
    expect(noted(entries(change('reminder'), change('expired')))).toEqual(['A 0: reminder sent, expired sent'])
  })

  test('of each time that an alert fired', () => {
    const flapped = entries(change('firing'), change('resolved'), change('firing', 60))
    expect(noted(flapped)).toEqual(['A 0: firing sent, resolved sent', 'A 60: firing sent'])
  })

  test('as unknown, of a beginning that a process may have sent that died, where the message says the end', () => {
    const claimed = entries(change('firing'), change('resolved')).map((entry) => ({
      ...entry,
      claimed: entry.id === 0,
    }))
    expect(noted(claimed)).toEqual(['A 0: firing unknown, resolved sent'])
    expect(noted(claimed.slice(0, 1))).toEqual(['A 0: firing sent'])
  })

  test('not of a digest', () => {
    expect(noted(entries({ kind: 'digest', digest: {} }))).toEqual([])
  })
})

describe('why messages wait is noted', () => {
  const silence: Suppression = { by: 'silence', at: AT, silence: 1, until: AT + 60, reason: '' }

  test('once for each alert and reason, and again where the store failed', async () => {
    const written: EpisodeNote[][] = []
    let fails = true
    const note = suppressionNotes({
      noteEpisodes: async (notes) => {
        if (fails) throw new StoreError('unavailable', 'full')
        written.push([...notes])
      },
    })
    const suppressed = [{ change: change('firing'), by: [silence] }]
    await expect(note(suppressed)).rejects.toThrow('full')
    fails = false
    for (const at of [AT + 1, AT + 2]) await note([{ change: change('firing'), by: [{ ...silence, at }] }])
    expect(written.flat().map(({ key, lines }) => [key, readNotes(lines).suppressions])).toEqual([
      ['A', [{ ...silence, at: AT + 1 }]],
    ])
    await note([{ change: change('firing', 0, B), by: [silence] }])
    await note([{ change: change('firing'), by: [silence, { by: 'poll_age', at: AT + 3 }] }])
    expect(
      written
        .slice(1)
        .flat()
        .map(({ key, lines }) => [key, readNotes(lines).suppressions.map(({ by }) => by)]),
    ).toEqual([
      ['B', ['silence']],
      ['A', ['poll_age']],
    ])
  })
})
