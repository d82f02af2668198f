import { describe, expect, test } from 'vitest'
import { quarterHourOf, usedSince } from '../../../src/ledger/usage.ts'
import { completePoll, CREATED, ledgerBook, seen } from '../../kit/ledger/seen.ts'

const participantMinutes = (audio: number, video = 0) => ({ participantMinutes: { audio, video, total: undefined } })
const ended = (audio: number, video = 0) =>
  seen('a', 'ended', { endedAt: CREATED + 5, ...participantMinutes(audio, video) })
const quarter = (seconds: number) => quarterHourOf(CREATED + seconds)
const used = ({ state }: ReturnType<typeof ledgerBook>) => usedSince(state, 0, 'participants')

describe('the usage of a quarter of an hour', () => {
  test('is the participant minutes of both media, when they became known', () => {
    const book = ledgerBook()
    const callMinutes = { audio: 90, video: 90, total: undefined }
    book.see(completePoll(1, seen('a', 'ongoing', { ...participantMinutes(2, 3), callMinutes })))
    book.see(completePoll(3600, ended(4, 3)))
    expect([...book.state.usage]).toEqual([
      [quarter(1), 5],
      [quarter(3600), 2],
    ])
  })

  test('decreases by a correction when it is noticed, even below zero', () => {
    const book = ledgerBook()
    book.see(completePoll(10, ended(20, 5)))
    book.see(completePoll(3600, ended(12, 4)))
    expect([...book.state.usage]).toEqual([
      [quarter(10), 25],
      [quarter(3600), -9],
    ])
  })

  test('adds up to the minutes last served', () => {
    const book = ledgerBook()
    for (const [i, audio] of [3, 60, 0, 7, 5].entries()) book.see(completePoll(10 + i * 1000, ended(audio)))
    expect(used(book)).toBe(5)
  })

  test('does not decrease by a correction at call level', () => {
    const book = ledgerBook()
    const call = (audio: number) => ({ callMinutes: { audio, video: undefined, total: undefined } })
    book.see(completePoll(10, { ...ended(20), ...call(20) }))
    book.see(completePoll(3600, { ...ended(20), ...call(1) }))
    expect([...book.state.usage]).toEqual([[quarter(10), 20]])
  })
})
