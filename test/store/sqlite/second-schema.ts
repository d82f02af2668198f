import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { labelsOf } from '../../../src/ledger/call.ts'
import { newLedger } from '../../../src/ledger/state.ts'
import { MARK, type TrackedCall } from '../../../src/ledger/tracked-call.ts'
import { migrate, MIGRATIONS } from '../../../src/store/sqlite/schema.ts'
import { temporaryFolder } from '../temporary-folder.ts'

/** Rows as schema 2 has them, and the calls that they stand for. */
export const SECOND_SCHEMA: { target: string; remembered: boolean; data: string; call: TrackedCall }[] = [
  {
    target: 'b',
    remembered: true,
    data: '["open","ongoing",["video","meet","group"],1790000001.5,1789999990,1789999995.25,null,3,2,[1.5,0.25,3,0],null,1,null,8]',
    call: {
      id: 'same id',
      phase: 'open',
      status: 'ongoing',
      labels: labelsOf('video', 'meet', 'group'),
      firstSeen: 1790000001.5,
      initiatedAt: 1789999990,
      startedAt: 1789999995.25,
      endedAt: undefined,
      totalParticipants: 3,
      joined: 2,
      counted: [1.5, 0.25, 3, 0],
      finish: undefined,
      notFound: 1,
      retainUntil: undefined,
      marks: MARK.recordingSeen,
    },
  },
  {
    target: 'a',
    remembered: true,
    data: '["final","rejected",["other","other","other"],1790000002,null,1790000003,1790000050.5,null,0,[0,2.25,0,4.5],["ended",["audio","call","user"],1790000050.5,1790000060,1790000003,null,47.5,0,2.25,1790000061],0,1790000070,2146]',
    call: {
      id: 'same id',
      phase: 'final',
      status: 'rejected',
      labels: labelsOf('other', 'other', 'other'),
      firstSeen: 1790000002,
      initiatedAt: undefined,
      startedAt: 1790000003,
      endedAt: 1790000050.5,
      totalParticipants: undefined,
      joined: 0,
      counted: [0, 2.25, 0, 4.5],
      finish: {
        status: 'ended',
        labels: labelsOf('audio', 'call', 'user'),
        at: 1790000050.5,
        known: 1790000060,
        seen: 1790000061,
        began: 1790000003,
        answerDelay: undefined,
        duration: 47.5,
        audio: 0,
        video: 2.25,
      },
      notFound: 0,
      retainUntil: 1790000070,
      marks: MARK.answerDelayObserved | MARK.detailsWanted | MARK.finalChanged | MARK.tooManyParticipants,
    },
  },
  {
    target: 'a',
    remembered: true,
    data: '["lost","initiated",["audio","call","user"],1790000004,1790000004,null,null,null,null,[0,0,0,0],null,0,1790000090,0]',
    call: {
      id: 'lost',
      phase: 'lost',
      status: 'initiated',
      labels: labelsOf('audio', 'call', 'user'),
      firstSeen: 1790000004,
      initiatedAt: 1790000004,
      startedAt: undefined,
      endedAt: undefined,
      totalParticipants: undefined,
      joined: undefined,
      counted: [0, 0, 0, 0],
      finish: undefined,
      notFound: 0,
      retainUntil: 1790000090,
      marks: 0,
    },
  },
  {
    target: 'c',
    remembered: true,
    data: '["baseline","canceled",["audio","presenter","other"],1790000005,1789900000,null,1789900009,50,0,[0,0,0,0],null,0,null,0]',
    call: {
      id: 'baseline é ☎',
      phase: 'baseline',
      status: 'canceled',
      labels: labelsOf('audio', 'presenter', 'other'),
      firstSeen: 1790000005,
      initiatedAt: 1789900000,
      startedAt: undefined,
      endedAt: 1789900009,
      totalParticipants: 50,
      joined: 0,
      counted: [0, 0, 0, 0],
      finish: undefined,
      notFound: 0,
      retainUntil: undefined,
      marks: 0,
    },
  },
  {
    target: 'b',
    remembered: false,
    data: '["final","unanswered",["video","call","user"],1790000010,1790000010,null,1790000040,2,0,[0,0,0,0],["unanswered",["video","call","user"],1790000040,1790000045,1790000010,null,null,0,0,1790000046],0,null,4]',
    call: {
      id: 'forgotten',
      phase: 'final',
      status: 'unanswered',
      labels: labelsOf('video', 'call', 'user'),
      firstSeen: 1790000010,
      initiatedAt: 1790000010,
      startedAt: undefined,
      endedAt: 1790000040,
      totalParticipants: 2,
      joined: 0,
      counted: [0, 0, 0, 0],
      finish: {
        status: 'unanswered',
        labels: labelsOf('video', 'call', 'user'),
        at: 1790000040,
        known: 1790000045,
        seen: 1790000046,
        began: 1790000010,
        answerDelay: undefined,
        duration: undefined,
        audio: 0,
        video: 0,
      },
      notFound: 0,
      retainUntil: undefined,
      marks: MARK.participantsObserved,
    },
  },
]

/** A store of the second schema with three targets, which were not set up in the order of their names. */
export function secondSchemaStore(): string {
  const path = join(temporaryFolder(), 'callwatch.db')
  const db = new DatabaseSync(path)
  migrate(db, path, MIGRATIONS.slice(0, 2))
  for (const [i, name] of ['c', 'a', 'b'].entries()) {
    const { facts } = newLedger(1_790_000_000 + i)
    db.prepare('INSERT INTO targets VALUES (?, ?, 7, ?)').run(name, `of ${name}`, JSON.stringify({ ...facts, seq: 7 }))
    db.prepare('INSERT INTO counters VALUES (?, ?, ?)').run(name, `series of ${name}`, i + 0.5)
    db.prepare('INSERT INTO usage VALUES (?, 1790000100, ?)').run(name, i + 0.25)
    db.prepare("INSERT INTO evaluations VALUES (?, 1789999200, 't900000,42000;')").run(name)
  }
  const insert = db.prepare('INSERT INTO calls VALUES (?, ?, ?, ?, ?)')
  for (const { target, remembered, data, call } of SECOND_SCHEMA) {
    insert.run(target, call.id, call.finish?.at ?? null, Number(remembered), data)
  }
  db.close()
  return path
}
