import { Subject } from 'rxjs'
import { expect, test } from 'vitest'
import type { OwnershipEvent } from '../../src/cluster/shared-ownership.ts'
import type { DaemonEvent } from '../../src/daemon/daemon-event.ts'
import { storeTrouble } from '../../src/daemon/store-trouble.ts'
import { pollEvent } from './poll-event.ts'

/** The trouble after each of these events. */
function troublesAfter(...events: DaemonEvent[]): (string | undefined)[] {
  const event$ = new Subject<DaemonEvent>()
  const troubles: (string | undefined)[] = []
  storeTrouble(event$).subscribe((trouble) => troubles.push(trouble))
  for (const event of events) event$.next(event)
  return troubles
}

const owning = (event: OwnershipEvent): DaemonEvent => ({ kind: 'ownership', event })

test('trouble with the store lasts until the target has a successful poll or is removed', () => {
  const removed = { kind: 'removed', target: 'b', notifications: [] } as const
  expect(troublesAfter(pollEvent('a', 'full'), pollEvent('b', 'full too'), pollEvent('a'), removed)).toEqual([
    'full',
    'full',
    'full too',
    undefined,
  ])
})

test('a poll that ends after another daemon acquired its target is no trouble with the store', () => {
  const [lost, acquired] = (['lost', 'acquired'] as const).map((kind) => owning({ kind, targets: ['a'] }))
  const late = pollEvent('a', 'this daemon does not own target a')
  expect(troublesAfter(pollEvent('a', 'full'), lost!, late, acquired!, pollEvent('a', 'full'))).toEqual([
    'full',
    undefined,
    undefined,
    undefined,
    'full',
  ])
})

test('a lease that cannot be renewed is trouble with the store, other settings are not', () => {
  const trouble = (of: 'store' | 'settings', problem?: string) => owning({ kind: 'trouble', of, problem })
  expect(troublesAfter(trouble('store', 'away'), trouble('store'), trouble('settings', 'other'))).toEqual([
    'away',
    undefined,
    undefined,
  ])
})
