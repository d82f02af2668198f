import { describe, expect, test } from 'vitest'
import { completePoll, CREATED } from '../../kit/ledger/seen.ts'
import { instance, notification, openAt, type NewPlace, type OpenTarget } from '../../kit/store/place.ts'

/** What a store promises of the participants in the log of events. */
export function participantsContract(newPlace: NewPlace): void {
  async function append({ see, ledger }: OpenTarget, id: string, participants?: readonly string[]): Promise<void> {
    const texts = ['{"first":1}', '{"second":2}']
    const events = { id, at: CREATED, texts, ...(participants && { participants }) }
    await see(completePoll(ledger.sync.seq + 1), { events })
  }

  describe('the participants in the log of events', () => {
    test('are read with their events, also after a restart', async () => {
      const a = await openAt(newPlace)
      await append(a, 'without')
      await append(a, 'with', ['', '[{"uid":"é\\n"}]'])
      await append(a, 'empty', ['[]', ''])
      const rows = await a.store.events(1, 100)
      expect(rows.map(({ participants }) => participants)).toEqual([undefined, ['', '[{"uid":"é\\n"}]'], ['[]', '']])
      expect(await a.store.latestEvents(100)).toEqual(rows)
      const again = await a.restart()
      expect(await again.store.events(1, 100)).toEqual(rows)
      expect(await (await a.place.reader()).events(1, 100)).toEqual(rows)
    })

    test('may come with the end of an alert', async () => {
      const a = await openAt(newPlace)
      const alerts = { changed: [instance], ended: [], notifications: [] }
      await a.see(completePoll(1), { alerts, changes: [notification] })
      const end = { ...notification, kind: 'expired', expiredBecause: 'target reset' } as const
      const events = { id: 'end', at: CREATED, texts: ['{}'], participants: ['[1]'] }
      await a.store.resetTarget('a', [end], events)
      const again = await a.restart()
      await append(again, 'later')
      expect((await again.store.latestEvents(9)).map(({ participants }) => participants)).toEqual([['[1]'], undefined])
    })

    test('are erased, however many there are; the events stay as they are, and new ones may have some', async () => {
      const a = await openAt(newPlace)
      await a.store.eraseParticipants()
      for (let i = 0; i < 450; i++) await append(a, `${i}`, i % 3 === 0 ? undefined : ['[1]', '[2]'])
      const before = await a.store.events(1, 2000)
      await a.store.eraseParticipants()
      const after = await a.store.events(1, 2000)
      expect(after).toEqual(before.map(({ participants: _erased, ...row }) => row))
      expect(after).toHaveLength(450)
      await a.store.eraseParticipants()
      await append(a, 'new', ['', '[3]'])
      expect(await a.store.latestEvents(1)).toMatchObject([{ id: 'new', participants: ['', '[3]'] }])
    })
  })
}
