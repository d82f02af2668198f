import { describe, expect, test } from 'vitest'
import { statedOf } from '../../../../src/alerts/incidents.ts'
import { readNotes, type EpisodeNote, type Suppression } from '../../../../src/alerts/episode.ts'
import { readNotifiedAlerts } from '../../../../src/notifications/notified-incidents.ts'
import { isoTime } from '../../../../src/clock/times.ts'
import { notesOf } from '../../../../src/notifications/delivery/notified.ts'
import { suppressionNotes } from '../../../../src/notifications/delivery/suppression-notes.ts'
import { StoreError } from '../../../../src/store/store-error.ts'
import { alertHistory } from '../../../kit/history/as-shown.ts'
import {
  AT,
  changeOf,
  liveAlert,
  sending,
  type Named,
  type Receive,
} from '../../../kit/notifications/delivery/sending.ts'
import { DeliveryError } from '../../../../src/network/delivery-error.ts'

/** An alert that fires, as a sender knows it. */
const liveOf = (named: Named) => {
  const live = liveAlert(named, changeOf(named, 'firing', AT))
  const alert = statedOf(live)
  const { target, severity } = alert
  return { target, severity, alert, instance: live.instance, name: named.name, episode: `${named.name} 1` }
}

const A = { name: 'A' }
const B = { name: 'B' }

test('a note of a message has the alert, since when it fires, the receiver and the time', () => {
  const [note] = notesOf([changeOf(A, 'firing', AT)], { receiver: 'slack', kind: 'firing', at: AT + 9 })
  expect(note).toMatchObject({ target: 'production', key: 'A', since: AT })
  expect(readNotes(note!.lines)).toEqual({
    notices: [{ receiver: 'slack', kind: 'firing', at: AT + 9 }],
    refusals: [],
    suppressions: [],
  })
})

describe('a message is noted', () => {
  /** What the history has of each alert, in the order in which they fired. */
  async function noted(
    run: (sent: ReturnType<typeof sending>) => Promise<unknown>,
    receive: Receive = () => undefined,
  ) {
    const sent = sending({ receive })
    await run(sent)
    const { alerts } = await alertHistory(sent.store, { from: 0, to: AT + 1e6 }, { configured: [], now: AT + 1e6 })
    return alerts
      .map(
        ({ key, since, notified }) =>
          `${key} ${Date.parse(since) / 1000 - AT}: ${notified.map(({ kind }) => kind).join(', ')}`,
      ) // oxfmt-ignore
      .toSorted()
  }

  test('of each alert that begins or ends in it', async () => {
    const notes = await noted(async ({ fire, resolve, expire, clock }) => {
      await fire(A)
      await fire(B)
      await clock.advance(5)
      await resolve(A)
      await clock.advance(5)
      await expire(B)
      await clock.advance(5)
    })
    expect(notes).toEqual(['A 0: firing, resolved', 'B 0: firing, expired'])
  })

  test('with the time at which the receiver accepted it, as the incident has it, however slow that was', async () => {
    const answers: (() => void)[] = []
    const receive: Receive = () => new Promise((resolve) => answers.push(() => resolve(undefined)))
    const { store, fire, clock } = sending({ receive })
    await fire(A)
    await clock.advance(2.5)
    answers[0]!()
    await clock.advance(1)
    const { alerts } = await alertHistory(store, { from: 0, to: AT + 1e6 }, { configured: [], now: AT + 1e6 })
    const [told] = [...(await readNotifiedAlerts(store)).values()].flat()
    const noted = alerts.flatMap(({ notified }) => notified.map(({ at }) => at))
    expect(noted).toEqual([isoTime(told!.at)])
    expect(told!.at).toBe(AT + 2.5)
  })

  test('that was refused, once, with why and without secrets, until one is accepted', async () => {
    const answers = [...Array<string>(8).fill('busy, hunter2'), undefined, 'away', 'away']
    const receive: Receive = (_message, attempt) => {
      const problem = answers[attempt - 1]
      return problem === undefined ? undefined : new DeliveryError(problem, { retryable: true })
    }
    const { store, fire, resolve, clock } = sending({ receive })
    await fire(A)
    await fire(B)
    await clock.advance(300)
    await resolve(A)
    await clock.advance(30)
    const { alerts } = await alertHistory(store, { from: 0, to: AT + 1e6 }, { configured: [], now: AT + 1e6 })
    const ofEach = alerts.map(({ key, refused }) => [
      key,
      ...refused.map(({ receiver, problem }) => `${receiver}: ${problem}`),
    ])
    expect(ofEach.toSorted(([a = ''], [b = '']) => a.localeCompare(b))).toEqual([
      ['A', 'slack: busy, [secret]', 'slack: away'],
      ['B', 'slack: busy, [secret]'],
    ])
  })

  test('once it is accepted, not when it is tried', async () => {
    const notes = await noted(
      async ({ fire, clock }) => {
        await fire(A)
        await clock.advance(5)
      },
      (_message, attempt) => (attempt < 3 ? new DeliveryError('busy', { retryable: true }) : undefined),
    )
    expect(notes).toEqual(['A 0: firing'])
  })

  test('of what began and ended before the receiver took a message', async () => {
    const notes = await noted(
      async ({ fire, resolve, clock }) => {
        await fire(A)
        await clock.advance(5)
        await resolve(A)
        await clock.advance(600)
      },
      (_message, attempt) => (attempt === 1 ? new DeliveryError('no', { retryable: false }) : undefined),
    )
    expect(notes).toEqual(['A 0: resolved'])
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
    const [a, b] = [A, B].map(liveOf)
    await expect(note([{ ...a!, by: [silence] }])).rejects.toThrow('full')
    fails = false
    for (const at of [AT + 1, AT + 2]) await note([{ ...a!, by: [{ ...silence, at }] }])
    expect(written.flat().map(({ key, lines }) => [key, readNotes(lines).suppressions])).toEqual([
      ['A', [{ ...silence, at: AT + 1 }]],
    ])
    await note([{ ...b!, by: [silence] }])
    await note([{ ...a!, by: [silence, { by: 'poll_age', at: AT + 3 }] }])
    const later = written.slice(1).flat()
    expect(later.map(({ key, lines }) => [key, readNotes(lines).suppressions.map(({ by }) => by)])).toEqual([
      ['B', ['silence']],
      ['A', ['poll_age']],
    ])
  })
})

test('mails to several recipients are one notice, unless one comes much later', () => {
  const notice = (at: number, receiver = 'mail') => JSON.stringify({ receiver, kind: 'firing', at })
  const lines = [notice(100), notice(101), notice(101, 'slack'), notice(700)].map((line) => `${line}\n`).join('')
  expect(readNotes(lines).notices.map(({ receiver, at }) => [receiver, at])).toEqual([
    ['mail', 100],
    ['slack', 101],
    ['mail', 700],
  ])
})
