import { expect, test } from 'vitest'
import { type Tripwire, noteTotal, resetTripwire } from '../../../src/polling/list/list-state.ts'

const DAY = 86_400
const newTripwire = (): Tripwire => ({ state: 'watched', base: undefined, cameIn: 0, ignoredUntil: -Infinity })

/** The state after polls: what the total was in each, and how many rows came in. */
function after(polls: string, tripwire = newTripwire(), now = 0) {
  for (const [, total, cameIn] of polls.matchAll(/(\d+|\?)\+(\d+)/g))
    noteTotal(tripwire, total === '?' ? undefined : Number(total), Number(cameIn), now)
  return tripwire.state
}

test.each<[string, 'watched' | 'tripped', string]>([
  ['stays the same', 'watched', '40+0 40+0'],
  ['grows by the rows that came in', 'watched', '40+9 42+2'],
  ['grows less, since rows have left', 'watched', '40+0 41+3'],
  ['grows later than the rows come in', 'watched', '40+0 40+2 42+0'],
  ['is absent', 'watched', '?+3 ?+2'],
  ['is absent at first', 'watched', '?+3 40+2 42+2'],
  ['is always zero', 'watched', '0+0 0+7'],
  ['is smaller than before', 'watched', '40+0 12+0'],
  ['grows by more than the rows that came in', 'tripped', '40+0 42+1'],
  ['grows by more over several polls', 'tripped', '40+0 41+1 42+1 44+1'],
  ['falls by one, and grows by two', 'tripped', '40+0 39+0 41+0'],
])('the tripwire of a total that %s is %s', (_what, state, polls) => {
  expect(after(polls)).toBe(state)
})

test.each([
  ['is ignored for a day, if the sweep that it started found nothing', 'checked', false, DAY],
  ['trips again at once, if the sweep that it started found a call', 'checked', true, 0],
  ['trips at once after a sweep that was due anyway', 'watched', false, 0],
] as const)('a total %s', (_what, state, hasFound, ignored) => {
  const tripwire = { ...newTripwire(), state }
  resetTripwire(tripwire, hasFound, 1000)
  expect(tripwire.state).toBe('watched')
  const trip = (now: number) => after('40+0 47+0', { ...tripwire }, now)
  if (ignored > 0) expect(trip(1000 + ignored - 1)).toBe('watched')
  expect(trip(1000 + ignored)).toBe('tripped')
})

test('a sweep that began before the total tripped leaves it so', () => {
  const tripwire: Tripwire = { ...newTripwire(), state: 'tripped' }
  resetTripwire(tripwire, false, 0)
  expect(tripwire.state).toBe('tripped')
})
