import { describe, expect, test } from 'vitest'
import { alertHistory } from '../../../src/history/alert-history.ts'
import { readLatest } from '../../../src/events/read-events.ts'
import { expiryEvents } from '../../../src/events/new-events.ts'
import { listCalls } from '../../../src/history/list-calls.ts'
import type { Silence } from '../../../src/alerts/match.ts'
import { nameOf } from '../../../src/alerts/alert.ts'
import {
  notesOf,
  readNotified,
  type Known,
  type Notified,
  type Telling,
} from '../../../src/notifications/delivery/notified.ts'
import type { Store } from '../../../src/store/store.ts'
import { completePoll, contents, CREATED, seen } from '../../kit/ledger/seen.ts'
import {
  A,
  B,
  commitOf,
  DAY,
  instance,
  NO_ALERTS,
  notification,
  openAt,
  openIn,
  type NewPlace,
} from '../../kit/store/place.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'

const RENAME = { name: 'new', formerly: 'a' }
const NEW = { ...A, name: 'new' }
/** A name with all that JSON, LIKE and regular expressions read otherwise. */
const ODD = `it's "100%" _a.b\\ \u{1F600}`
const LATER = CREATED + 3600

/** The alert of each target, as its receivers know it. */
const firing = (target: string) => ({ ...notification, target })
/** What receivers know, as a daemon reads it when it starts. */
async function told(store: Store): Promise<(receiver: string) => Notified> {
  const all = await readNotified(['slack', 'webhook'], { clock: virtualClock(CREATED + 100), store })
  return (receiver) => all.get(receiver)!
}

function telling(id: string, given: Partial<Telling> = {}): Telling {
  return { id, thread: undefined, heard: [], begun: [], firing: [], ended: [], was: [], notices: () => [], ...given }
}

/** One receiver was told of the alerts of these targets, the other one perhaps. Both got a report. */
async function tell(store: Store, ...targets: readonly string[]): Promise<void> {
  const of = await told(store)
  const alerts = targets.map(firing)
  for (const receiver of ['slack', 'webhook']) {
    const message = telling(`to ${receiver}`, { begun: alerts, firing: alerts, ended: alerts.slice(0, 1) })
    await of(receiver).begin(message)
    if (receiver === 'slack') await of(receiver).accepted({ ...message, ended: [] }, undefined)
    const setUps = { [targets[0]!]: CREATED, other: CREATED }
    await of(receiver).set({ ...of(receiver).state(), reports: { day: CREATED }, setUps })
  }
}

/** The names of alerts that are told, by which a daemon finds that they are those that fire. */
const names = (all: readonly Known[]) => all.map(({ name }) => name).toSorted()
const namesOf = (...targets: readonly string[]) => targets.map((target) => nameOf(firing(target))).toSorted()

/** What a store promises of a target that gets another name. */
export function renamedContract(newPlace: NewPlace): void {
  /** A target with calls, and with an alert that fires for two receivers; and another one with the same. */
  async function withAlert() {
    const target = await openAt(newPlace)
    const other = await openIn(target.store, B)
    for (const [{ see }, name] of [
      [target, 'a'],
      [other, 'b'],
    ] as const) {
      // oxfmt-ignore
      const change = { ...notification, target: name }
      await see(completePoll(100, seen('open', 'ongoing'), seen('over', 'ended', { endedAt: CREATED + 80 })), {
        alerts: { ...NO_ALERTS, changed: [instance] },
        changes: [change],
        events: expiryEvents([change], CREATED + 100),
      })
    }
    return { ...target, other }
  }
  type Opened = Awaited<ReturnType<typeof withAlert>>
  const alertsIn = async ({ store }: Pick<Opened, 'store'>) => {
    const period = { from: CREATED - DAY, to: LATER }
    const { found } = await alertHistory(store, period, { configured: ['new'], now: LATER })
    return found.map(({ target, until, notices, suppressions }) => ({ target, until, notices, suppressions }))
  }

  describe('a target with another name', () => {
    test('has its calls and alerts as before, and the old name nothing', async () => {
      const { store, ledger, place } = await withAlert()
      const before = contents(ledger)
      await store.renameTargets([RENAME])
      const again = await openIn(store, NEW)
      const { seq } = again.ledger.sync
      expect(contents(again.ledger)).toEqual({ ...before, sync: { ...before.sync, seq } })
      expect([...again.alerts.values()]).toEqual([instance])
      const { calls } = await listCalls(store, { since: CREATED, until: LATER }, { limit: 10 })
      expect(calls.map(({ target }) => target).toSorted()).toEqual(['b', 'new'])
      expect(new Set((await place.callHistory()).map(({ target }) => target))).toEqual(new Set(['b', 'new']))
      expect(await store.strayTargets(['new', 'b'])).toEqual([])
      await again.see(completePoll(200, seen('open', 'ended', { endedAt: CREATED + 190 })))
      expect(await place.reader().then((reader) => reader.target('a'))).toBeUndefined()
    })

    test('has the same alert, whose end is told where it was told', async () => {
      const opened = await withAlert()
      const { store } = opened
      await tell(store, 'a', 'b')
      await store.renameTargets([RENAME])
      expect((await alertsIn(opened)).map(({ target, until }) => `${target} ${until}`).toSorted()).toEqual([
        'b null',
        'new null',
      ])
      const { see } = await openIn(store, NEW)
      const end = { ...notification, target: 'new', kind: 'resolved' as const, at: CREATED + 300 }
      await see(completePoll(200), {
        alerts: { ...NO_ALERTS, ended: [instance] },
        changes: [end],
      })
      const slack = (await told(store))('slack')
      const heard = slack.entries().filter(({ name }) => name === nameOf(end))
      expect(heard).toMatchObject([{ target: 'new', thread: 'to slack' }])
      const notice = { receiver: 'slack', kind: 'resolved', at: CREATED + 310 } as const
      await slack.accepted(telling('end', { heard, ended: [end], notices: () => notesOf([end], notice) }), undefined)
      const found = (await alertsIn(opened)).find(({ target }) => target === 'new')
      expect(found).toMatchObject({ until: CREATED + 300, notices: [notice] })
      const open = (await told(store))('slack').entries().filter(({ ended }) => ended === undefined) // oxfmt-ignore
      expect(names(open)).toEqual(namesOf('b'))
    })

    test('has its events, with the ids that they had', async () => {
      const { store } = await withAlert()
      const shown = async () => (await readLatest(store, 10)).events.map(({ event, cursor }) => ({ event, cursor }))
      const before = await shown()
      await store.renameTargets([RENAME])
      await store.renameTargets([{ name: 'third', formerly: 'new' }])
      const after = await shown()
      expect(after.map(({ event: { id }, cursor }) => [id, cursor])).toEqual(
        before.map(({ event: { id }, cursor }) => [id, cursor]),
      )
      expect(after.map(({ event: { source, data } }) => [source, data.target])).toEqual([
        ['urn:callwatch:third', 'third'],
        ['urn:callwatch:b', 'b'],
      ])
    })

    test('is refused to an owner that does not know of it, and is not created again under the old name', async () => {
      const { store, deltaOf } = await withAlert()
      const late = commitOf(deltaOf(completePoll(200)))
      await store.renameTargets([RENAME])
      await expect(store.commit('a', late)).rejects.toMatchObject({ kind: 'stale' })
      await expect(store.openTarget(A, undefined, DAY)).rejects.toMatchObject({
        kind: 'stale',
        message: 'the store has no target a any more: it was renamed or reset',
      })
      expect((await store.openTarget(NEW, undefined, DAY)).ledger.calls.size).toBe(2)
    })

    test('gets it once, and only if no other target has it', async () => {
      const { store, ledger } = await withAlert()
      await store.renameTargets([{ name: 'b', formerly: 'a' }, { name: 'new', formerly: 'unknown' }]) // oxfmt-ignore
      expect(contents((await openIn(store)).ledger)).toEqual(contents(ledger))
      for (const _time of [1, 2]) await store.renameTargets([RENAME])
      expect((await openIn(store, NEW)).ledger.sync.seq).toBe(ledger.sync.seq + 1)
    })

    test('whatever the names are', async () => {
      const opened = await withAlert()
      const { store } = opened
      await tell(store, 'a', 'b')
      await store.renameTargets([{ name: ODD, formerly: 'a' }])
      expect((await told(store))('slack').state().setUps).toEqual({ [ODD]: CREATED, other: CREATED })
      await store.renameTargets([{ name: 'new', formerly: ODD }])
      expect((await alertsIn(opened)).map(({ target }) => target).toSorted()).toEqual(['b', 'new'])
      const slack = (await told(store))('slack')
      expect(names(slack.entries())).toEqual(namesOf('new', 'b'))
      expect(slack.state().setUps).toEqual({ new: CREATED, other: CREATED })
      expect((await openIn(store, NEW)).alerts.size).toBe(1)
    })
  })

  describe('what names a target that gets another name', () => {
    test('are the silences of its alerts, also by an expression', async () => {
      const { store } = await withAlert()
      const silence = (target: string): Omit<Silence, 'id'> => {
        const earlier = [{ match: { target: 'a', alert: 'X' }, until: CREATED }]
        return { match: { target }, since: CREATED, until: LATER, reason: 'a', earlier }
      }
      for (const target of ['a', 'b', '=~a|b', '=~.*', '=~b.*']) await store.addSilence(silence(target))
      await store.renameTargets([{ name: 'a.new', formerly: 'a' }])
      const silences = await store.silences(CREATED)
      expect(silences.map(({ match }) => match.target)).toEqual(['a.new', 'b', '=~(?:a|b)|a\\.new', '=~.*', '=~b.*'])
      expect(silences.map(({ reason, earlier }) => [reason, earlier![0]!.match.target])).toEqual(
        silences.map(() => ['a', 'a.new']),
      )
    })

    test('are expressions that match the old name without containing it', async () => {
      const { store } = await withAlert()
      await store.renameTargets([{ name: 'xyz', formerly: 'a' }])
      const match = { target: '=~x?[^b]{2}' }
      await store.addSilence({ match, since: CREATED, until: LATER, reason: '' })
      await store.renameTargets([{ name: 'new one', formerly: 'xyz' }])
      expect((await store.silences(CREATED))[0]!.match.target).toBe('=~(?:x?[^b]{2})|new one')
    })

    test('are the alerts of which receivers were told, and the reports that they got, which none gets again', async () => {
      const { store } = await withAlert()
      await tell(store, 'a', 'b')
      const before = await told(store)
      const { rows } = await store.notified()
      await store.renameTargets([RENAME])
      const of = await told(store)
      const renamed = (all: readonly Known[]) => all.map(({ target, at, thread, row }) => [target, at, thread, row])
      expect(names(of('slack').entries())).toEqual(namesOf('new', 'b'))
      expect(renamed(of('slack').entries())).toEqual(
        renamed(before('slack').entries()).map(([target, ...rest]) => [target === 'a' ? 'new' : target, ...rest]),
      )
      const attempts = of('webhook').attempts()
      expect(attempts.map(({ begun, ended }) => [names(begun), names(ended)])).toEqual([
        [namesOf('new', 'b'), namesOf('new')],
      ])
      for (const receiver of ['slack', 'webhook']) {
        const setUps = { new: CREATED, other: CREATED }
        expect(of(receiver).state()).toEqual({ ...before(receiver).state(), setUps })
      }
      expect((await store.notified()).rows.map(({ id }) => id).toSorted()).toEqual(rows.map(({ id }) => id).toSorted())
    })

    test('are the notes of what was told of its alerts, and of what suppressed them', async () => {
      const opened = await withAlert()
      const { store } = opened
      const notice = { receiver: 'slack', kind: 'firing', at: 1 }
      const inhibited = { by: 'inhibition', at: 1, since: 1, alert: 'X', target: 'a' }
      const note = (target: string, ...lines: object[]) => {
        const { key, firingSince: since } = notification
        return { target, key, since, lines: lines.map((line) => `${JSON.stringify(line)}\n`).join('') }
      }
      await store.noteEpisodes([note('a', notice), note('b', notice, inhibited)])
      await store.renameTargets([RENAME])
      const found = await alertsIn(opened)
      expect(found.find(({ target }) => target === 'new')).toMatchObject({ notices: [notice], suppressions: [] })
      expect(found.flatMap(({ suppressions }) => suppressions)).toEqual([{ ...inhibited, target: 'new' }])
    })

    test('are events that a webhook has not received', async () => {
      const { store } = await withAlert()
      const put = ['a call', 'a ', 'b call'].map((series, position) => {
        return { position: position + 1, place: 0, id: 'x', series, at: 1, dead: position === 0, attempts: 1 }
      })
      await store.saveWebhook({ name: 'crm', revision: 0, progress: { cursor: '0' }, put })
      await store.renameTargets([RENAME])
      const seriesOf = async (dead: boolean) => {
        const page = { dead, after: { position: 0, place: -1 }, limit: 10 }
        return (await store.undelivered('crm', page)).map(({ series }) => series)
      }
      expect([await seriesOf(true), await seriesOf(false)]).toEqual([['new call'], ['new ', 'b call']])
    })

    test('are rows that the new name left, which make way', async () => {
      const { store, see } = await withAlert()
      const left = await openIn(store, { ...A, name: 'new' })
      const change = { ...notification, target: 'new' }
      await left.see(completePoll(100), { changes: [change] })
      await see(completePoll(200))
      await store.resetTarget('new', [])
      await store.renameTargets([RENAME])
      expect((await openIn(store, NEW)).ledger.calls.size).toBe(2)
    })
  })
}
