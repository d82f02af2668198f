import { Subject } from 'rxjs'
import { expect, test } from 'vitest'
import type { OwnershipEvent } from '../../src/cluster/shared-ownership.ts'
import type { DaemonEvent } from '../../src/daemon/daemon-event.ts'
import type { PollReport } from '../../src/polling/poll-report.ts'
import { healthRecord } from '../../src/target/health.ts'
import { newLedger } from '../../src/ledger/state.ts'
import { storeTrouble } from '../../src/daemon/store-trouble.ts'

/** The trouble after each of these events. */
function troublesAfter(...events: DaemonEvent[]): (string | undefined)[] {
  const event$ = new Subject<DaemonEvent>()
  const troubles: (string | undefined)[] = []
  storeTrouble(event$).subscribe((trouble) => troubles.push(trouble))
  for (const event of events) event$.next(event)
  return troubles
}

function poll(target: string, problem?: string): DaemonEvent {
  const [successful, storeFailed] = [problem === undefined, problem !== undefined]
  const outcome = successful ? 'complete' : 'failed'
  const report: PollReport = {
    outcome,
    successful,
    seconds: 1,
    requests: [],
    remaining: undefined,
    problem,
    storeFailed,
  }
  const before = healthRecord(() => 0).current()
  return { kind: 'polled', target, report, before, sync: newLedger(0).sync }
}
const owning = (event: OwnershipEvent): DaemonEvent => ({ kind: 'ownership', event })

test('trouble with the store lasts until the target has a successful poll or is removed', () => {
  const removed = { kind: 'removed', target: 'b', notifications: [] } as const
  expect(troublesAfter(poll('a', 'full'), poll('b', 'full too'), poll('a'), removed)).toEqual([
    'full',
    'full',
    'full too',
    undefined,
  ])
})

test('a poll that ends after another daemon acquired its target is no trouble with the store', () => {
  const [lost, acquired] = (['lost', 'acquired'] as const).map((kind) => owning({ kind, targets: ['a'] }))
  const late = poll('a', 'this daemon does not own target a')
  expect(troublesAfter(poll('a', 'full'), lost!, late, acquired!, poll('a', 'full'))).toEqual([
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
