import { expect, test } from 'vitest'
import type { SeenCall } from '../../../src/ledger/call.ts'
import { foundCallsView } from '../../../src/views/found-call.ts'
import { foundNotes } from '../../../src/views/found-text.ts'
import { seen } from '../../kit/ledger/seen.ts'

const NOW = 1_790_000_600
const BEGAN = 1_790_000_000
const found = (...calls: SeenCall[]) => ({ calls, filter: 'honoured', unclear: 0, isWhole: true }) as const
const person = (uid: string, joined: boolean, state?: 'unanswered' | 'rejected' | 'ended' | 'ongoing') => ({
  uid,
  joined,
  state,
  joinedAt: undefined,
  leftAt: undefined,
  minutes: { audio: undefined, video: undefined, total: undefined },
})
const times = { initiatedAt: BEGAN, startedAt: BEGAN + 9, endedAt: BEGAN + 201 }
const failed = { initiatedAt: BEGAN, endedAt: BEGAN + 44 }
const toBob = { parties: { initiator: 'alice', receiver: 'bob' } }
const toLobby = { parties: { initiator: 'alice', receiver: 'lobby' }, receiverType: 'group' } as const
const joinedBy = (joined: number, absent: number, ...participants: NonNullable<SeenCall['participants']>) => ({
  participants,
  invited: { joined, absent },
})
const [alice, bob] = [person('alice', true, 'ended'), person('bob', true, 'ended')]
const absent = joinedBy(0, 1, person('alice', false, 'ended'), person('bob', false, 'unanswered'))
const both = joinedBy(1, 0, alice, bob)
const carol = person('carol', false, 'rejected')
const three = joinedBy(1, 2, alice, bob, person('bob', false, 'ended'), carol, person('dan', false))

test.each<[string, string, SeenCall]>([
  [
    "audio, to bob: rang 44s, nobody answered; bob's device did not join",
    'alice',
    seen('a', 'unanswered', { ...toBob, ...failed, ...absent }),
  ],
  [
    "audio, from alice: rang 44s, nobody answered; bob's device did not join",
    'bob',
    seen('a', 'unanswered', { ...toBob, ...failed, ...absent }),
  ],
  ['audio, to bob: nobody answered', 'alice', seen('a', 'unanswered', { ...toBob, initiatedAt: BEGAN })],
  [
    'audio, to bob: rang 44s, rejected',
    'alice',
    seen('a', 'rejected', {
      ...toBob,
      ...failed,
      ...joinedBy(0, 1, person('alice', false), person('bob', false, 'rejected')),
    }),
  ],
  [
    "audio, to bob: rang 44s, canceled by the caller; bob's device did not join",
    'alice',
    seen('a', 'canceled', { ...toBob, ...failed, ...absent }),
  ],
  ['audio, to bob: rang 9s, connected for 3m 12s', 'alice', seen('a', 'ended', { ...toBob, ...times, ...both })],
  [
    "audio, to bob: connected for 3m 21s; alice's device did not join",
    'alice',
    seen('a', 'ended', {
      ...toBob,
      startedAt: BEGAN,
      endedAt: BEGAN + 201,
      ...joinedBy(1, 0, person('alice', false), bob),
    }),
  ],
  [
    'audio, to bob: rang 9s, connected so far 9m 51s',
    'alice',
    seen('a', 'ongoing', { ...toBob, ...times, endedAt: undefined }),
  ],
  [
    'audio, to bob: rang 10m, nobody has answered yet',
    'alice',
    seen('a', 'initiated', { ...toBob, initiatedAt: BEGAN }),
  ],
  [
    'video, from alice to group lobby: rang 9s, connected for 3m 12s; 1 of 3 invited people joined; carol rejected it',
    'carol',
    seen('a', 'ended', { ...toLobby, ...times, type: 'video', ...three }),
  ],
  [
    "audio, from alice to group lobby: rang 9s, connected for 3m 12s; 1 of 3 invited people joined; dan's device did not join",
    'dan',
    seen('a', 'ended', { ...toLobby, ...times, ...three }),
  ],
  [
    'audio, from alice to group lobby: rang 9s, connected for 3m 12s; 1 of 3 invited people joined; bob joined',
    'bob',
    seen('a', 'ended', { ...toLobby, ...times, ...three }),
  ],
  [
    'audio, from alice to group lobby: connected for 3m 12s',
    'bob',
    seen('a', 'ended', { ...toLobby, ...times, initiatedAt: BEGAN + 9 }),
  ],
  [
    'audio, to bob: rang 10m, nobody has answered yet',
    'alice',
    seen('a', 'initiated', { ...toBob, initiatedAt: BEGAN, ...absent }),
  ],
  [
    'audio, from alice to group lobby: rang 9s, connected so far 9m 51s; 1 of 3 invited people joined so far; bob joined',
    'bob',
    seen('a', 'ongoing', { ...toLobby, ...times, endedAt: undefined, ...three }),
  ],
  [
    'audio, from alice to group lobby: connected for 3m 12s',
    'dan',
    seen('a', 'ended', { ...toLobby, ...times, mode: 'meet', participants: three.participants }),
  ],
  [
    'call: has a status that is not documented',
    'alice',
    seen('a', 'other', { type: undefined, receiverType: undefined }),
  ],
])('%s (searched for %s)', (text, uid, call) => {
  expect(foundCallsView('production', found(call), { uid }, NOW).calls).toMatchObject([{ text }])
})

test('the state of the user is that of an entry that joined, and null where the service does not list the user', () => {
  const call = seen('a', 'ended', { ...toLobby, ...times, ...three })
  const of = (uid: string) => foundCallsView('production', found(call), { uid }, NOW).calls[0]
  expect(of('bob')).toMatchObject({ user: { joined: true, state: 'ended' }, invited: 3, joined: 1 })
  expect(of('dan')).toMatchObject({ user: { joined: false, state: null } })
  const unclear = seen('a', 'ended', { ...toLobby, ...times, participants: three.participants })
  expect(foundCallsView('production', found(unclear), { uid: 'dan' }, NOW).calls[0]).toMatchObject({
    user: { joined: null },
    invited: null,
    joined: null,
  })
  expect(of('eve')).toMatchObject({
    user: null,
    began: '2026-09-21T14:13:20.000Z',
    rang_seconds: 9,
    connected_seconds: 192,
  })
})

test('notes say what a reader must know of the list', () => {
  const notes = (more: object) => foundNotes(foundCallsView('production', { ...found(), ...more }, { uid: 'a' }, NOW))
  expect(notes({ calls: [seen('a', 'ended')] })).toEqual([])
  expect(notes({ filter: 'ignored', unclear: 1 })).toEqual([
    'The service ignored the filter: callwatch filtered the list.',
    'Calls that name nobody: 1.',
    'No such call was found.',
  ])
  expect(notes({ filter: 'refused', unclear: 2, isWhole: false })).toEqual([
    'The service refused the filter: callwatch filtered the list.',
    'Calls that name nobody: 2.',
    'Only a part of the list was read.',
    'No such call was found.',
  ])
})
