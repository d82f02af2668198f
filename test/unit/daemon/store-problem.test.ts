import { expect, test } from 'vitest'
import type { OwnershipEvent } from '../../../src/cluster/shared-ownership.ts'
import type { DaemonEvent } from '../../../src/daemon/daemon-event.ts'
import { storeHealth } from '../../../src/daemon/reporting/store-problem.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { pollEvent } from './poll-event.ts'

/** The problem after each of these events. */
function problemsAfter(...events: DaemonEvent[]): (string | undefined)[] {
  const lost = new Set<string>()
  const health = storeHealth(virtualClock(), { owns: (target) => !lost.has(target), wasLeader: () => true })
  return events.map((event) => {
    if (event.kind === 'ownership' && event.event.kind === 'lost') event.event.targets.forEach((one) => lost.add(one))
    if (event.kind === 'ownership' && event.event.kind === 'acquired') lost.clear()
    health.follow(event)
    const latest = health.latest()
    return latest?.isOver === false ? latest.problem : undefined
  })
}

test('an outage that began under another leader is for that one to tell', () => {
  let leads = false
  const health = storeHealth(virtualClock(), { owns: () => true, wasLeader: () => leads })
  const followed = (problem?: string) => {
    health.follow(owning({ kind: 'problem', of: 'store', problem }))
    return health.latest()?.problem
  }
  expect(followed('gone')).toBeUndefined()
  leads = true
  expect([followed('still gone'), followed(), followed('gone again')]).toEqual([undefined, undefined, 'gone again'])
})

const owning = (event: OwnershipEvent): DaemonEvent => ({ kind: 'ownership', event })

test('a problem of the store lasts until the target has a successful poll or is removed', () => {
  const removed = { kind: 'removed', target: 'b', notifications: [] } as const
  expect(problemsAfter(pollEvent('a', 'full'), pollEvent('b', 'full too'), pollEvent('a'), removed)).toEqual([
    'full',
    'full',
    'full too',
    undefined,
  ])
})

test('a poll that ends after another daemon acquired its target is no problem of the store', () => {
  const [lost, acquired] = (['lost', 'acquired'] as const).map((kind) => owning({ kind, targets: ['a'] }))
  const late = pollEvent('a', 'this daemon does not own target a')
  expect(problemsAfter(pollEvent('a', 'full'), lost!, late, acquired!, pollEvent('a', 'full'))).toEqual([
    'full',
    undefined,
    undefined,
    undefined,
    'full',
  ])
})

test('a lease that cannot be renewed is a problem of the store, other settings are not', () => {
  const problemEvent = (of: 'store' | 'settings', problem?: string) => owning({ kind: 'problem', of, problem })
  expect(
    problemsAfter(problemEvent('store', 'away'), problemEvent('store'), problemEvent('settings', 'other')),
  ).toEqual(['away', undefined, undefined])
})
