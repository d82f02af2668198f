import { expect, test } from 'vitest'
import { readEvents, readLatest, shownLog } from '../../../src/events/read-events.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { completePoll } from '../../kit/ledger/seen.ts'
import { openIn } from '../../kit/store/place.ts'

test('participants that are not erased yet are not shown while events do not have them', async () => {
  const store = openSqliteStore({ path: ':memory:' })
  const { see } = await openIn(store)
  const texts = [JSON.stringify({ type: 'call.ended', subject: 'x', data: {} })]
  await see(completePoll(1), { events: { id: 'commit', at: 0, texts, participants: ['[{"uid":"superhero1"}]'] } })
  let isOn = true
  const log = shownLog(store, () => isOn)
  const read = async () => JSON.stringify([await readEvents(log, { limit: 9 }), await readLatest(log, 9)])
  expect(await read()).toContain('superhero1')
  isOn = false
  expect(await read()).not.toContain('superhero1')
  expect((await readEvents(log, { limit: 9 })).events).toHaveLength(1)
})
