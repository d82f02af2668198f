import { expect, test } from 'vitest'
import type { StateChange } from '../../../../src/views/state/state.ts'
import { targetView } from '../../../../src/views/state/target.ts'
import { ageOfTargets } from '../../../../src/web/page/model/notices.ts'
import { changedSnapshot } from '../../../../src/web/page/model/snapshots.ts'
import { POLLED } from '../../../kit/metrics/hand-made-target.ts'
import { shownTarget } from '../../../kit/web/serve.ts'

const viewOf = (target: string, pollAge: number) => targetView(shownTarget({ target, pollAge, sync: POLLED }))
const minutes = { unanswered: [], rejected: [], canceled: [], other: [] }
const FIRST: StateChange = {
  version: '1',
  now: '2026-09-21T14:13:20.000Z',
  names: ['a', 'b'],
  targets: [viewOf('b', 2), viewOf('a', 3)],
  alerts: [],
  minutes: [
    { name: 'a', ended: [1], ...minutes },
    { name: 'b', ended: [2], ...minutes },
  ],
  since: '2026-09-21T13:14:00.000Z',
  silences: [],
  read_only: true,
}
const LATER = { version: '1', now: '2026-09-21T14:13:28.000Z', targets: [], alerts: [], minutes: [] }

test('a change replaces what it has, in the order of the targets', () => {
  const first = changedSnapshot(undefined, FIRST, 1000)
  expect(first.targets.map(({ name }) => name)).toEqual(['a', 'b'])
  const changed = changedSnapshot(first, { ...LATER, minutes: [{ name: 'b', ended: [5], ...minutes }] }, 9000)
  expect(changed.perMinute.targets.map(({ ended }) => ended)).toEqual([[1], [5]])
  expect(changed).toMatchObject({ read_only: true, silences: [], takenAt: 9000 })
  expect(changed).toMatchObject({ now: LATER.now, targets: first.targets })
  const removed = changedSnapshot(changed, { ...LATER, names: ['b'] }, 9000)
  expect(removed.targets.map(({ name }) => name)).toEqual(['b'])
})

test('numbers that have not changed stay the same object, so that nothing is drawn again', () => {
  const first = changedSnapshot(undefined, FIRST, 1000)
  const changed = changedSnapshot(first, { ...LATER, targets: [viewOf('a', 1)] }, 9000)
  expect(changed.perMinute).toBe(first.perMinute)
  expect(changed.targets[1]).toBe(first.targets[1])
})

test('each target has its own age, whenever something was heard of it', () => {
  const first = changedSnapshot(undefined, FIRST, 1000)
  const snapshot = changedSnapshot(first, { ...LATER, targets: [viewOf('a', 1)] }, 9000)
  // Twelve seconds after the first change, four after the second one.
  const age = ageOfTargets({ snapshot, now: 13_000 })
  expect(snapshot.targets.map(({ lag_seconds }) => lag_seconds + age)).toEqual([5, 14])
})
