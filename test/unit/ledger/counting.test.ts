import { describe, expect, test } from 'vitest'
import type { SeenCall } from '../../../src/ledger/call.ts'
import { COUNTERS, HISTOGRAMS } from '../../../src/ledger/series.ts'
import type { Observation } from '../../../src/ledger/observation.ts'
import { asked, completePoll, CREATED, KNOWN_LIST, ledgerBook, listed, seen } from '../../kit/ledger/seen.ts'

const { started, finished, transitions, callMinutes, corrections, anomalies, recorded } = COUNTERS
const AUDIO_CALL = ['audio', 'call', 'user']

describe('counting a call:', () => {
  test('it is started once and finished once, however often it is listed', () => {
    const book = ledgerBook()
    book.see(completePoll(1, seen('a', 'initiated')))
    book.see(completePoll(2, seen('a', 'ongoing')))
    book.see(completePoll(3, seen('a', 'ended', { endedAt: CREATED + 3 })))
    book.see(completePoll(4, seen('a', 'ended', { endedAt: CREATED + 3 })))
    expect([book.started(), book.finished()]).toEqual([1, 1])
    expect(book.counted(finished, ...AUDIO_CALL, 'ended')).toBe(1)
    expect(book.counted(transitions, 'ongoing', 'ended', 'true')).toBe(1)
    expect(book.state.open.size).toBe(0)
  })

  test('twice in one observation, it counts once', () => {
    const book = ledgerBook()
    const call = seen('a', 'ended', { endedAt: CREATED + 1 })
    book.see(completePoll(2, call, call))
    expect([book.started(), book.finished()]).toEqual([1, 1])
  })

  test('the number of participants in it is kept as last seen, also if nothing else changes', () => {
    const book = ledgerBook()
    for (const joined of [1, 3, 2]) {
      book.see({ answers: [listed(CREATED + 1, seen('a', 'ongoing', { joined }))] })
      expect(book.state.calls.get('a')?.joined).toBe(joined)
    }
  })

  test('an observation that changes nothing makes no delta', () => {
    const book = ledgerBook()
    book.see({ answers: [listed(CREATED + 1, seen('a', 'ongoing'))] })
    expect(book.see({ answers: [listed(CREATED + 2, seen('a', 'ongoing'))] })).toBeUndefined()
    expect(book.see({ answers: [] })).toBeUndefined()
  })

  test('an undocumented status is open without an endedAt, and final with one', () => {
    const book = ledgerBook()
    book.see(completePoll(1, seen('a', 'other')))
    expect([...book.state.open.keys()]).toEqual(['a'])
    book.see(completePoll(2, seen('a', 'other', { endedAt: CREATED + 2 })))
    expect(book.counted(finished, ...AUDIO_CALL, 'other')).toBe(1)
    expect(book.counted(anomalies, 'unknown_status')).toBe(1)
    expect(book.counted(transitions, 'none', 'other', 'false')).toBe(1)
  })

  test('a change after its end is an anomaly once, and it does not finish again', () => {
    const book = ledgerBook()
    book.see(completePoll(1, seen('a', 'ended', { endedAt: CREATED + 1 })))
    book.see(completePoll(2, seen('a', 'ongoing')))
    book.see(completePoll(3, seen('a', 'rejected')))
    expect([book.started(), book.finished()]).toEqual([1, 1])
    expect(book.counted(anomalies, 'final_changed')).toBe(1)
    expect(book.counted(transitions, 'ended', 'ongoing', 'true')).toBe(1)
    expect(book.counted(transitions, 'ongoing', 'rejected', 'true')).toBe(1)
    expect(book.state.open.size).toBe(0)
  })

  test('it finished at endedAt, but not before it began nor after now', () => {
    const book = ledgerBook()
    const began = CREATED + 100
    book.see({
      answers: [
        listed(
          CREATED + 200,
          seen('usual', 'ended', { initiatedAt: began, endedAt: began + 50 }),
          seen('reversed', 'ended', { initiatedAt: began, endedAt: began - 50 }),
          seen('early', 'ended', { initiatedAt: began, endedAt: CREATED + 5000 }),
        ),
      ],
    })
    const at = (id: string) => book.state.calls.get(id)!.finish!.at - CREATED
    expect([at('usual'), at('reversed'), at('early')]).toEqual([150, 100, 200])
    expect(book.counted(anomalies, 'time_reversed')).toBe(1)
  })
})

describe('the labels of a call', () => {
  test('keep the last value of one that is missing, and are an anomaly if one changes', () => {
    const book = ledgerBook()
    book.see(completePoll(1, seen('a', 'initiated')))
    book.see(completePoll(2, seen('a', 'ongoing', { type: undefined })))
    expect(book.counted(anomalies, 'labels_changed')).toBe(0)
    book.see(completePoll(3, seen('a', 'ended', { type: 'video', endedAt: CREATED + 3 })))
    expect(book.counted(anomalies, 'labels_changed')).toBe(1)
    expect(book.counted(started, ...AUDIO_CALL)).toBe(1)
    expect(book.counted(finished, 'video', 'call', 'user', 'ended')).toBe(1)
  })
})

describe('of all listed calls,', () => {
  test('one that was final before the set-up is tracked and never counted', () => {
    const book = ledgerBook()
    const old = seen('old', 'ended', { endedAt: CREATED - 1 })
    book.see(completePoll(1, old))
    book.see(completePoll(2, { ...old, callMinutes: { audio: 9, video: 0, total: undefined } }))
    expect([book.started(), book.finished(), book.counted(callMinutes, ...AUDIO_CALL, 'audio')]).toEqual([0, 0, 0])
    expect(book.state.calls.get('old')!.phase).toBe('baseline')
    expect(book.state.sync.excluded).toEqual({ baseline: 1, beforeHorizon: 0 })
  })

  test('one that ended in the second of the set-up counts', () => {
    const book = ledgerBook()
    book.state.sync = { ...book.state.sync, created: CREATED + 0.9 }
    book.see(completePoll(1, seen('a', 'ended', { endedAt: CREATED })))
    expect(book.finished()).toBe(1)
  })

  test('one that is open at the initial sync counts completely, however long ago it began', () => {
    const book = ledgerBook()
    const minutes = (audio: number) => ({ callMinutes: { audio, video: 0, total: undefined } })
    book.see(completePoll(1, seen('a', 'ongoing', { initiatedAt: CREATED - 500_000, ...minutes(7) })))
    book.see(completePoll(2, seen('a', 'ended', { endedAt: CREATED + 2, ...minutes(8) })))
    expect([book.started(), book.finished(), book.counted(callMinutes, ...AUDIO_CALL, 'audio')]).toEqual([1, 1, 8])
  })

  test('a final one without any time is baseline until the first complete sweep, and counts later', () => {
    const book = ledgerBook()
    book.see({ answers: [listed(CREATED + 1, seen('before', 'ended'))] })
    book.see(completePoll(2, seen('before', 'ended')))
    book.see(completePoll(3, seen('before', 'ended'), seen('after', 'ended')))
    expect([book.started(), book.finished()]).toEqual([1, 1])
  })

  test('those of the first answers are baseline until the first complete sweep', () => {
    const book = ledgerBook()
    book.see({ answers: [listed(CREATED + 1, seen('open', 'ongoing'))] })
    book.see({ answers: [listed(CREATED + 2, seen('a', 'ended'))] })
    book.see(completePoll(3, seen('b', 'ended')))
    expect([book.started(), book.finished()]).toEqual([1, 0])
    book.see(completePoll(18, seen('c', 'ended')))
    expect([book.started(), book.finished()]).toEqual([2, 1])
  })

  test('those in the lookback before the set-up count with baseline: count, and none before', () => {
    const book = ledgerBook({ baseline: 'count', lookback: 1000 })
    book.see(
      completePoll(
        1,
        seen('in', 'ended', { endedAt: CREATED - 1000 }),
        seen('out', 'ended', { endedAt: CREATED - 1001 }),
      ),
    )
    expect(book.finished()).toBe(1)
    expect(book.state.sync.excluded).toEqual({ baseline: 0, beforeHorizon: 1 })
  })

  test('those that ended since the last complete sweep count, even after an outage longer than the lookback', () => {
    const book = ledgerBook({ lookback: 1000 })
    book.see(completePoll(1))
    book.settle(9000, seen('a', 'ended', { endedAt: CREATED + 2 }))
    expect(book.finished()).toBe(1)
    book.see(completePoll(9001, seen('b', 'ended', { endedAt: CREATED + 2 })))
    expect(book.finished()).toBe(1)
  })

  test('one is evicted when the horizon has passed its own time and the moment its end was seen', () => {
    const book = ledgerBook({ lookback: 1000 })
    book.see(completePoll(10, seen('a', 'ended', { endedAt: CREATED + 5 })))
    book.settle(1010)
    expect(book.state.calls.has('a')).toBe(true)
    book.settle(1011)
    expect(book.state.calls.has('a')).toBe(false)
  })

  test('a long one that ended without an endedAt does not count again when the endedAt arrives later', () => {
    const book = ledgerBook({ lookback: 1000 })
    const began = { initiatedAt: CREATED + 1, startedAt: CREATED + 1 }
    book.see(completePoll(2, seen('a', 'ongoing', began)))
    book.see(completePoll(3000, seen('a', 'ended', began)))
    book.see(completePoll(3001, seen('a', 'ended', { ...began, endedAt: CREATED + 3000 })))
    expect([book.started(), book.finished()]).toEqual([1, 1])
  })

  test('a final one without any time is tracked for the lookback after it was last listed', () => {
    const book = ledgerBook({ lookback: 10_000 })
    book.see(completePoll(1))
    for (const seconds of [2, 4000, 8000, 12_000]) book.see(completePoll(seconds, seen('a', 'ended')))
    book.settle(21_000)
    expect(book.state.calls.has('a')).toBe(true)
    book.settle(22_001)
    expect(book.state.calls.has('a')).toBe(false)
    expect(book.finished()).toBe(1)
  })

  test.each([
    ['baseline', 0, 86_400],
    ['counted', 15, 1800],
  ] as const)('a %s one without any time is one call for as long as it is listed', (_what, first, lookback) => {
    const book = ledgerBook({ lookback })
    book.see(completePoll(0, ...(first === 0 ? [seen('a', 'ended')] : [])))
    for (let seconds = 15; seconds < 3 * lookback; seconds += lookback / 50)
      book.see(completePoll(seconds, seen('a', 'ended')))
    expect(book.started()).toBe(first === 0 ? 0 : 1)
    expect(book.state.calls.size).toBe(1)
  })

  test('an open one is never evicted', () => {
    const book = ledgerBook({ lookback: 1000 })
    book.see(completePoll(1, seen('a', 'ongoing', { initiatedAt: CREATED })))
    book.see(completePoll(100_000))
    expect(book.state.open.has('a')).toBe(true)
  })

  test('those since the set-up count by the time of the service, to which the set-up is moved once', () => {
    const book = ledgerBook()
    const behind = { ...listed(CREATED - 300, seen('a', 'ended', { endedAt: CREATED - 299 })), hostTime: CREATED + 1 }
    book.see({ answers: [behind] })
    expect(book.state.sync.created).toBe(CREATED - 301)
    expect(book.finished()).toBe(1)
    book.see({ answers: [{ ...listed(CREATED + 900, seen('b', 'ongoing')), hostTime: CREATED + 2 }] })
    expect(book.state.sync.created).toBe(CREATED - 301)
  })
})

describe('a clock step,', () => {
  /** A complete poll at which the two clocks differ. */
  const pollAt = (service: number, host: number, ...calls: SeenCall[]): Observation => ({
    answers: [{ ...listed(service, ...calls), hostTime: host }],
    success: {
      endsSweep: true,
      beganServiceTime: service,
      beganHostTime: host,
      serviceTime: service,
      hostTime: host,
      listed: new Set(),
      list: KNOWN_LIST,
    },
  })
  const old = seen('old', 'ended', { endedAt: CREATED + 100 })
  const DAYS = 86_400

  test.each([
    ["the service's forward", 3600, 0],
    ["the service's back", -5 * DAYS, 0],
    ["the host's forward", 0, 5 * DAYS],
    ["the host's back", 0, -5 * DAYS],
  ])('%s, makes no call count twice', (_what, service, host) => {
    for (const at of [DAYS - 1800, 5 * DAYS]) {
      const book = ledgerBook()
      book.see(pollAt(CREATED, CREATED))
      book.see(pollAt(CREATED + 200, CREATED + 200, old))
      for (const seconds of [at, at + 15]) book.see(pollAt(CREATED + seconds, CREATED + seconds, old))
      book.see(pollAt(CREATED + at + 30 + service, CREATED + at + 30 + host, old))
      for (const seconds of [at + 45, at + 60]) book.see(pollAt(CREATED + seconds, CREATED + seconds, old))
      expect([book.started(), book.finished()]).toEqual([1, 1])
    }
  })

  test('days forward in one answer, does not exclude calls that end afterwards', () => {
    const book = ledgerBook()
    book.see(pollAt(CREATED, CREATED))
    book.see(pollAt(CREATED + 15 + 5 * DAYS, CREATED + 15))
    book.see(pollAt(CREATED + 30, CREATED + 30, seen('a', 'ended', { endedAt: CREATED + 20 })))
    expect(book.finished()).toBe(1)
  })

  test('before the first answer, does not move the set-up into the future', () => {
    const book = ledgerBook()
    const now = CREATED - 3600
    book.see(pollAt(now, now))
    book.see(pollAt(now + 210, now + 210, seen('a', 'ended', { endedAt: now + 200 })))
    expect(book.finished()).toBe(1)
  })
})

describe('lost calls:', () => {
  const ongoing = seen('a', 'ongoing', { initiatedAt: CREATED })

  test('a call is lost if the service does not know it in two polls', () => {
    const book = ledgerBook()
    book.see(completePoll(1, ongoing))
    book.see({ answers: [asked(CREATED + 2, undefined, ['a'])] })
    expect(book.lost()).toBe(0)
    book.see({ answers: [asked(CREATED + 3, undefined, ['a'])] })
    expect(book.lost()).toBe(1)
    expect(book.counted(transitions, 'ongoing', 'lost', 'true')).toBe(1)
    expect(book.state.open.size).toBe(0)
  })

  test('a call is lost if two sweeps do not show it, and Get Call only others of its session', () => {
    const book = ledgerBook()
    book.see(completePoll(1, seen('a', 'ongoing')))
    const sweep = (at: number) => {
      const poll = completePoll(at)
      book.see({ ...poll, success: { ...poll.success!, replaced: ['a'] } })
    }
    sweep(10)
    expect(book.lost()).toBe(0)
    book.see({ answers: [asked(CREATED + 15, seen('a', 'ongoing'))] })
    sweep(20)
    expect(book.lost()).toBe(0)
    sweep(30)
    expect(book.lost()).toBe(1)
  })

  test('a call that was listed between the two is not lost', () => {
    const book = ledgerBook()
    book.see(completePoll(1, ongoing))
    book.see({ answers: [asked(CREATED + 2, undefined, ['a'])] })
    book.see(completePoll(3, ongoing))
    book.see({ answers: [asked(CREATED + 4, undefined, ['a'])] })
    expect(book.lost()).toBe(0)
  })

  test.each(['ongoing', 'ended'] as const)(
    'a lost call that is listed as %s again has reappeared, and finishes once',
    (status) => {
      const book = ledgerBook()
      book.see(completePoll(1, ongoing))
      for (const seconds of [2, 3]) book.see({ answers: [asked(CREATED + seconds, undefined, ['a'])] })
      book.see(completePoll(4, seen('a', status)))
      expect(book.counted(transitions, 'lost', status, 'true')).toBe(1)
      book.see(completePoll(5, seen('a', 'ended')))
      const { started, reappeared, finished, lost, state } = book
      expect([started(), reappeared(), finished(), lost(), state.open.size]).toEqual([1, 1, 1, 1, 0])
    },
  )

  test('a lost call is tracked for the lookback after it was lost, however long ago it began', () => {
    const book = ledgerBook({ lookback: 1000 })
    book.see(completePoll(1, ongoing))
    for (const seconds of [5000, 5015]) book.see({ answers: [asked(CREATED + seconds, undefined, ['a'])] })
    for (const seconds of [5030, 5900]) book.see(completePoll(seconds))
    book.see(completePoll(5915, ongoing))
    expect([book.started(), book.lost(), book.reappeared(), book.finished()]).toEqual([1, 1, 1, 0])
  })

  test('a final or unknown call is not lost', () => {
    const book = ledgerBook()
    book.see(completePoll(1, seen('a', 'ended', { endedAt: CREATED + 1 })))
    for (const seconds of [2, 3]) book.see({ answers: [asked(CREATED + seconds, undefined, ['a', 'unknown'])] })
    expect(book.lost()).toBe(0)
  })
})

describe('the histograms of a finished call', () => {
  const full = { initiatedAt: CREATED + 1, startedAt: CREATED + 8, endedAt: CREATED + 68, totalParticipants: 2 }

  test('observe duration, answer delay and participants once, and its recording counts once', () => {
    const book = ledgerBook()
    for (const seconds of [70, 71]) book.see(completePoll(seconds, seen('a', 'ended', { ...full, hasRecording: true })))
    expect(book.observations('duration')).toBe(1)
    expect(book.counted({ ...COUNTERS.started, name: 'callwatch_call_duration_seconds' }, ...AUDIO_CALL, '60')).toBe(1)
    expect(
      book.counted({ ...COUNTERS.started, name: 'callwatch_call_answer_delay_seconds' }, 'audio', 'user', 'sum'),
    ).toBe(7)
    expect(book.observations('participants')).toBe(1)
    expect(book.counted(recorded)).toBe(1)
  })

  test('observe a value that is missing at its end when it arrives', () => {
    const book = ledgerBook()
    book.see(completePoll(70, seen('a', 'ended', { ...full, endedAt: undefined, totalParticipants: undefined })))
    expect([book.observations('duration'), book.observations('participants'), book.counted(recorded)]).toEqual([
      0, 0, 0,
    ])
    book.see(completePoll(71, seen('a', 'ended', { ...full, hasRecording: true })))
    expect([book.observations('duration'), book.observations('participants'), book.counted(recorded)]).toEqual([
      1, 1, 1,
    ])
  })

  test('observe the participants that an answer shows after the end, not those while it ran', () => {
    const book = ledgerBook()
    book.see(completePoll(1, seen('a', 'ongoing', { totalParticipants: 1 })))
    book.see(completePoll(70, seen('a', 'ended', { ...full, totalParticipants: undefined })))
    expect(book.observations('participants')).toBe(0)
    book.see(completePoll(71, seen('a', 'ended', { ...full, totalParticipants: 2 })))
    expect(book.counted({ ...COUNTERS.started, name: 'callwatch_call_participants' }, ...AUDIO_CALL, 'sum')).toBe(2)
  })

  test('observe a late value under the labels of its end', () => {
    const book = ledgerBook()
    const times = { initiatedAt: CREATED + 1, startedAt: CREATED + 2 }
    book.see(completePoll(30, seen('a', 'ended', times)))
    book.see(completePoll(45, seen('a', 'ended', { ...times, type: 'video', endedAt: CREATED + 20 })))
    const sums = [...book.state.counters.keys()].filter((key) => key.endsWith('|sum'))
    expect(sums).toEqual([
      `${HISTOGRAMS.answerDelay.name}|audio|user|sum`,
      `${HISTOGRAMS.duration.name}|audio|call|user|sum`,
    ])
  })

  test('count a recording that was seen while it ran at its end', () => {
    const book = ledgerBook()
    book.see(completePoll(1, seen('a', 'ongoing', { hasRecording: true })))
    expect(book.counted(recorded)).toBe(0)
    book.see(completePoll(2, seen('a', 'ended')))
    expect(book.counted(recorded)).toBe(1)
  })

  test('observe no duration and no answer delay if it was not answered', () => {
    const book = ledgerBook()
    book.see(completePoll(70, seen('a', 'rejected', full)))
    expect([
      book.observations('duration'),
      book.observations('answerDelay'),
      book.observations('participants'),
    ]).toEqual([0, 0, 1])
  })

  test('observe no reversed times, which are an anomaly', () => {
    const book = ledgerBook()
    book.see(
      completePoll(70, seen('a', 'ended', { initiatedAt: CREATED + 9, startedAt: CREATED + 8, endedAt: CREATED + 7 })),
    )
    expect([book.observations('duration'), book.observations('answerDelay')]).toEqual([0, 0])
    expect(book.counted(anomalies, 'time_reversed')).toBe(1)
  })

  test('count more than fifty participants as an anomaly', () => {
    const book = ledgerBook()
    book.see(
      completePoll(
        1,
        seen('fifty', 'ongoing', { totalParticipants: 50 }),
        seen('more', 'ongoing', { totalParticipants: 51 }),
      ),
    )
    expect(book.counted(anomalies, 'too_many_participants')).toBe(1)
  })
})

describe('the minutes of a call', () => {
  const audio = (minutes: number) => ({ callMinutes: { audio: minutes, video: undefined, total: undefined } })

  test('count under the new labels after these change, and the finish keeps the old ones', () => {
    const book = ledgerBook()
    const minutes = (audio: number) => ({
      endedAt: CREATED + 5,
      callMinutes: { audio, video: undefined, total: undefined },
    })
    book.see(completePoll(10, seen('a', 'ended', minutes(2))))
    book.see(completePoll(20, seen('a', 'ended', { ...minutes(5), type: 'video' })))
    expect(book.counted(callMinutes, 'audio', 'call', 'user', 'audio')).toBe(2)
    expect(book.counted(callMinutes, 'video', 'call', 'user', 'audio')).toBe(3)
    expect(book.counted(finished, ...AUDIO_CALL, 'ended')).toBe(1)
  })

  test('less corrections are the minutes last served', () => {
    const book = ledgerBook()
    for (const [seconds, minutes] of [
      [1, 1],
      [2, 3],
      [3, 2],
    ] as const) {
      book.see(completePoll(seconds, seen('a', 'ongoing', audio(minutes))))
    }
    for (const [seconds, minutes] of [
      [4, 2.5],
      [5, 4],
      [6, 1.5],
    ] as const) {
      book.see(completePoll(seconds, seen('a', 'ended', audio(minutes))))
    }
    const added = book.counted(callMinutes, ...AUDIO_CALL, 'audio')
    const corrected = book.counted(corrections, 'audio', 'call')
    expect([added, corrected, added - corrected]).toEqual([3 + 1.5, 0.5 + 2.5, 1.5])
  })
})

describe('the participants of a finished call', () => {
  const ended = seen('a', 'ended', { endedAt: CREATED + 1, hasParticipantList: false })

  test('are requested until an answer arrives, if it finished without a list of them', () => {
    const book = ledgerBook()
    book.see(completePoll(1, ended))
    expect([...book.state.detailsWanted.keys()]).toEqual(['a'])
    book.see(completePoll(2, ended))
    expect(book.state.detailsWanted.size).toBe(1)
    book.see({ answers: [asked(CREATED + 2, ended)] })
    expect(book.state.detailsWanted.size).toBe(0)
  })

  test.each([
    ['it is listed with them', completePoll(2, { ...ended, hasParticipantList: true })],
    ['the service does not know it', { answers: [asked(CREATED + 2, undefined, ['a'])] }],
  ])('are no longer requested once %s', (_what, observation) => {
    const book = ledgerBook()
    book.see(completePoll(1, ended))
    book.see(observation)
    expect(book.state.detailsWanted.size).toBe(0)
    expect(book.lost()).toBe(0)
  })

  test('are not requested with details: never', () => {
    const book = ledgerBook({ details: 'never' })
    book.see(completePoll(1, ended))
    expect(book.state.detailsWanted.size).toBe(0)
  })
})

describe('the people whom a finished call invited', () => {
  const GROUP_CALL = ['video', 'meet', 'group']
  const kind = { type: 'video', mode: 'meet', receiverType: 'group' } as const
  const call = (status: SeenCall['status'], invited?: SeenCall['invited'], more: Partial<SeenCall> = {}) =>
    seen('a', status, { ...kind, ...(status === 'ended' && { endedAt: CREATED + 10 }), invited, ...more })
  const countsIn = (book: ReturnType<typeof ledgerBook>) => {
    const outcomes = ['joined', 'absent', 'unknown']
    const added = outcomes.map((outcome) => book.counted(COUNTERS.invited, ...GROUP_CALL, outcome))
    return { added, corrected: outcomes.map((outcome) => book.counted(COUNTERS.invitedCorrections, outcome)) }
  }
  const countsAfter = (options: Parameters<typeof ledgerBook>[0], ...polls: Observation[]) => {
    const book = ledgerBook(options)
    for (const poll of polls) book.see(poll)
    return countsIn(book)
  }
  const noList = { hasParticipantList: false }
  const late = completePoll(11, call('ended', undefined, noList))

  test.each<[string, Observation[], number[], number[]]>([
    ['nothing while it is open', [completePoll(1, call('ongoing', { joined: 1, absent: 4 }))], [0, 0, 0], [0, 0, 0]],
    [
      'once, by what it shows at its end',
      [
        completePoll(1, call('ongoing', { joined: 1, absent: 4 })),
        completePoll(11, call('ended', { joined: 3, absent: 2 })),
      ],
      [3, 2, 0],
      [0, 0, 0],
    ],
    ['the call as unknown, if it has an empty list', [completePoll(11, call('ended'))], [0, 0, 1], [0, 0, 0]],
    ['nothing while its participants are requested', [late], [0, 0, 0], [0, 0, 0]],
    [
      'those that Get Call shows, if it was listed without participants',
      [
        late,
        { answers: [asked(CREATED + 12, call('ended', { joined: 3, absent: 2 }))] },
        completePoll(26, call('ended', undefined, noList)),
      ],
      [3, 2, 0],
      [0, 0, 0],
    ],
    [
      'the call as unknown, if Get Call shows none either',
      [late, { answers: [asked(CREATED + 12, call('ended', undefined, noList))] }],
      [0, 0, 1],
      [0, 0, 0],
    ],
    [
      'the call as unknown, if Get Call does not know it',
      [late, { answers: [asked(CREATED + 12, undefined, ['a'])] }],
      [0, 0, 1],
      [0, 0, 0],
    ],
    [
      'what the service says later, and what that takes away as a correction',
      [
        completePoll(11, call('ended', { joined: 3, absent: 2 })),
        completePoll(26, call('ended', { joined: 5, absent: 1 })),
      ],
      [5, 2, 0],
      [0, 1, 0],
    ],
    [
      'nothing of answers that show it as open again',
      [1, 2].flatMap((round) => [
        completePoll(11 * round, call('ended', { joined: 3, absent: 2 })),
        completePoll(11 * round + 5, call('ongoing', { joined: 1, absent: 4 })),
      ]),
      [3, 2, 0],
      [0, 0, 0],
    ],
    [
      'an unknown one as a correction, if it becomes known',
      [completePoll(11, call('ended')), completePoll(26, call('ended', { joined: 1, absent: 1 }))],
      [1, 1, 1],
      [0, 0, 1],
    ],
    [
      'with the labels of its end, also what comes later',
      [
        completePoll(11, call('ended', { joined: 3, absent: 2 })),
        completePoll(26, call('ended', { joined: 4, absent: 1 }, { type: 'audio' })),
      ],
      [4, 2, 0],
      [0, 1, 0],
    ],
  ])('count %s', (_what, polls, added, corrected) => {
    expect(countsAfter({}, ...polls)).toEqual({ added, corrected })
  })

  test('count as unknown at once with details: never', () => {
    expect(countsAfter({ details: 'never' }, late).added).toEqual([0, 0, 1])
  })

  test('count of a call that was over at the set-up, and of none that is excluded', () => {
    const past = completePoll(1, call('ended', { joined: 3, absent: 2 }, { endedAt: CREATED - 60 }))
    expect(countsAfter({ baseline: 'count' }, past).added).toEqual([3, 2, 0])
    expect(countsAfter({ baseline: 'skip' }, past).added).toEqual([0, 0, 0])
  })

  test('are those of the windows as well, with what comes later', () => {
    const book = ledgerBook()
    const inWindow = () => book.state.finished.between(-Infinity, Infinity).map(({ invited }) => invited)
    const polls = [
      late,
      completePoll(26, call('ended', { joined: 3, absent: 2 })),
      completePoll(41, call('ended', { joined: 4, absent: 1 })),
    ]
    const known = polls.map((poll) => {
      book.see(poll)
      return inWindow()
    })
    expect(known).toEqual([[undefined], [{ joined: 3, absent: 2 }], [{ joined: 4, absent: 1 }]])
  })

  test('are unknown of a call that is evicted before its details could be requested', () => {
    const book = ledgerBook({ lookback: 100 })
    book.see(completePoll(11, call('ended', undefined, { ...noList, initiatedAt: CREATED + 5 })))
    expect(countsIn(book).added).toEqual([0, 0, 0])
    book.settle(1000)
    book.settle(2000)
    expect(book.history.size).toBe(1)
    expect(countsIn(book).added).toEqual([0, 0, 1])
  })

  test('continue from the row of a call that was evicted and is listed again', () => {
    const book = ledgerBook({ lookback: 100 })
    const initiatedAt = CREATED + 5
    book.see(completePoll(11, call('ended', { joined: 3, absent: 2 }, { initiatedAt })))
    book.settle(1000)
    book.settle(2000)
    expect(book.history.size).toBe(1)
    const again = call('ended', { joined: 4, absent: 1 }, { initiatedAt, endedAt: CREATED + 1990 })
    book.see({ answers: [asked(CREATED + 2000, again)] })
    expect(countsIn(book)).toEqual({ added: [4, 2, 0], corrected: [0, 1, 0] })
  })
})

test('invalid items are counted by reason', () => {
  const book = ledgerBook()
  book.see({ answers: [{ ...listed(CREATED + 1), invalid: { no_status: 2, not_an_object: 1 } }] })
  expect(book.counted(COUNTERS.invalidItems, 'no_status')).toBe(2)
  expect(book.counted(COUNTERS.invalidItems, 'not_an_object')).toBe(1)
})
