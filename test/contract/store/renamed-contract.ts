import { describe, expect, test } from 'vitest'
import { alertHistory } from '../../../src/history/alert-history.ts'
import { readLatest } from '../../../src/events/read-events.ts'
import { expiryEvents } from '../../../src/events/new-events.ts'
import { listCalls } from '../../../src/history/list-calls.ts'
import type { Silence } from '../../../src/alerts/match.ts'
import type { ToldGroup } from '../../../src/store/store.ts'
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

const RENAME = { name: 'new', formerly: 'a' }
const NEW = { ...A, name: 'new' }
/** A name with all that JSON, LIKE and regular expressions read otherwise. */
const ODD = `it's "100%" _a.b\\ \u{1F600}`
const LATER = CREATED + 3600

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
        routedChanges: [{ change, receivers: ['slack', 'webhook'] }],
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

    test('has the same alert, whose end its receivers get', async () => {
      const opened = await withAlert()
      const { store } = opened
      await store.renameTargets([RENAME])
      expect((await alertsIn(opened)).map(({ target, until }) => `${target} ${until}`).toSorted()).toEqual([
        'b null',
        'new null',
      ])
      const { see } = await openIn(store, NEW)
      const end = { ...notification, target: 'new', kind: 'resolved' as const, at: CREATED + 300 }
      await see(completePoll(200), {
        alerts: { ...NO_ALERTS, ended: [instance] },
        routedChanges: [{ change: end, receivers: [] }],
      })
      expect((await alertsIn(opened)).find(({ target }) => target === 'new')?.until).toBe(CREATED + 300)
      for (const receiver of ['slack', 'webhook']) {
        const waiting = (await store.outbox(receiver)).map(({ content }) =>
          content.kind === 'digest' ? content.kind : [content.kind, content.target],
        )
        expect(waiting).toEqual([['firing', 'new'], ['firing', 'b'], ['resolved', 'new']]) // oxfmt-ignore
      }
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
      await store.renameTargets([{ name: ODD, formerly: 'a' }])
      await store.renameTargets([{ name: 'new', formerly: ODD }])
      expect((await alertsIn(opened)).map(({ target }) => target).toSorted()).toEqual(['b', 'new'])
      expect((await store.outbox('slack')).map(({ content }) => 'target' in content && content.target)).toEqual([
        'new',
        'b',
      ])
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

    test('are what receivers were told, and what waits for them', async () => {
      const { store, other } = await withAlert()
      const [first] = await store.outbox('slack')
      const told: ToldGroup = {
        at: 1,
        begun: 1,
        interval: 1,
        hasGrown: false,
        begunAgain: 0,
        targets: 1,
        severity: 'info',
      }
      const groupOf = (target: string) => JSON.stringify([null, { target, severity: 'critical' }])
      const telling = { receiver: 'slack', group: groupOf('a'), told }
      const notice = { receiver: 'slack', kind: 'firing', at: 1, outcome: 'sent' }
      const inhibited = { by: 'inhibition', at: 1, since: 1, alert: 'X', target: 'a' }
      const note = (target: string, ...lines: object[]) => {
        const { key, firingSince: since } = notification
        return { target, key, since, lines: lines.map((line) => `${JSON.stringify(line)}\n`).join('') }
      }
      await store.removeFromOutbox([first!.id], [note('a', notice), note('b', notice, inhibited)], telling)
      const digest = { kind: 'digest', targets: [{ target: 'a' }, { target: 'b' }] }
      await store.enqueueOnce([`past of a before ${CREATED}`], { kind: 'digest', digest }, ['slack'])
      await store.enqueueOnce(['digest of today'], { kind: 'digest', digest: { targets: ['a', 'b'] } }, ['slack'])
      await store.renameTargets([RENAME])
      expect([...(await store.toldGroups('slack'))]).toEqual([[groupOf('new'), told]])
      const [, ofNew] = (await alertsIn(other)).toSorted((one, next) => (one.target < next.target ? -1 : 1))
      expect(ofNew).toMatchObject({ target: 'new', notices: [notice] })
      expect((await alertsIn(other)).flatMap(({ suppressions }) => suppressions)).toEqual([
        { ...inhibited, target: 'new' },
      ])
      await store.enqueueOnce([`past of new before ${CREATED}`], { kind: 'digest', digest }, ['slack'])
      expect((await store.outbox('slack')).slice(1).map(({ content }) => content)).toEqual([
        { kind: 'digest', digest: { ...digest, targets: [{ target: 'new' }, { target: 'b' }] } },
        { kind: 'digest', digest: { targets: ['new', 'b'] } },
      ])
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
      await left.see(completePoll(100), { routedChanges: [{ change, receivers: ['slack'] }] })
      await see(completePoll(200))
      await store.resetTarget('new', [])
      await store.renameTargets([RENAME])
      expect((await openIn(store, NEW)).ledger.calls.size).toBe(2)
    })
  })
}
