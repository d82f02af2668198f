import { expect, test } from 'vitest'
import { newEvents } from '../../../src/events/new-events.ts'
import { completePoll, seen } from '../../kit/ledger/seen.ts'
import { openIn } from '../../kit/store/place.ts'
import { callwatch } from '../../kit/commands/callwatch.ts'
import { storeInUse } from '../../kit/commands/store-in-use.ts'

test('of participants, `events --json` alone says who they are: no line of `events`, no listing of dead letters', async () => {
  const { store, config } = storeInUse(['a'], 'events: { participants: true }')
  const { see, deltaOf } = await openIn(store)
  const minutes = { audio: 1, video: 0, total: undefined }
  const alice = { uid: 'alice', state: undefined, joined: true, joinedAt: undefined, leftAt: undefined, minutes }
  const poll = completePoll(1, seen('x', 'ongoing', { participants: [alice] }))
  const events = newEvents({ ledger: deltaOf(poll), notifications: [], backfilled: false }, Date.now() / 1000)!
  await see(poll, { events })
  const letter = {
    position: 1,
    place: 0,
    id: events.id,
    series: 'a call',
    at: events.at,
    attempts: 3,
    problem: 'it answered 400',
  }
  await store.saveWebhook({ name: 'crm', revision: 0, progress: { cursor: '0' }, put: [{ ...letter, dead: true }] })
  const printed = async (...args: string[]) => {
    const { code, stdout, stderr } = await callwatch([...args, '--config', config])
    return { code, stderr, hasOutput: stdout !== '', names: stdout.includes('alice') }
  }
  const naming = (names: boolean) => ({ code: 0, stderr: '', hasOutput: true, names })
  expect(await printed('events', '--json')).toEqual(naming(true))
  expect(await printed('events')).toEqual(naming(false))
  expect(await printed('events', 'webhooks', 'dead', 'crm')).toEqual(naming(false))
  expect(await printed('events', 'webhooks')).toEqual(naming(false))
  expect(await printed('events', 'webhooks', '--json')).toEqual(naming(false))
})
