import { Subject } from 'rxjs'
import { expect, test } from 'vitest'
import type { OwnershipEvent } from '../../src/cluster/shared-ownership.ts'
import type { DaemonEvent } from '../../src/daemon/daemon-event.ts'
import type { CycleReport } from '../../src/polling/cycle-report.ts'
import { storeTrouble } from '../../src/daemon/store-trouble.ts'

/** What is told after each of these. */
function told(...events: DaemonEvent[]): (string | undefined)[] {
  const watched$ = new Subject<DaemonEvent>()
  const troubles: (string | undefined)[] = []
  storeTrouble(watched$).subscribe((trouble) => troubles.push(trouble))
  for (const event of events) watched$.next(event)
  return troubles
}

function cycle(target: string, problem?: string): DaemonEvent {
  const [good, storeFailed] = [problem === undefined, problem !== undefined]
  const outcome = good ? 'complete' : 'failed'
  const report: CycleReport = { outcome, good, seconds: 1, requests: [], remaining: undefined, problem, storeFailed }
  return { kind: 'watch', target, event: { kind: 'cycle', report } }
}
const owning = (event: OwnershipEvent): DaemonEvent => ({ kind: 'ownership', event })

test('lasts until a whole cycle of the target is good again, or the target is removed', () => {
  const removed = { kind: 'removed', target: 'b', notifications: [] } as const
  expect(told(cycle('a', 'full'), cycle('b', 'full too'), cycle('a'), removed)).toEqual([
    'full',
    'full',
    'full too',
    undefined,
  ])
})

test('is not made of a cycle that ends after its target is another daemon’s', () => {
  const [lost, gained] = (['lost', 'gained'] as const).map((kind) => owning({ kind, target: 'a' }))
  const late = cycle('a', 'this daemon does not own target a')
  expect(told(cycle('a', 'full'), lost!, late, gained!, cycle('a', 'full'))).toEqual([
    'full',
    undefined,
    undefined,
    undefined,
    'full',
  ])
})

test('is also that the lease cannot be kept, but not that others go by other settings', () => {
  const trouble = (of: 'store' | 'settings', problem?: string) => owning({ kind: 'trouble', of, problem })
  expect(told(trouble('store', 'away'), trouble('store'), trouble('settings', 'other'))).toEqual([
    'away',
    undefined,
    undefined,
  ])
})
