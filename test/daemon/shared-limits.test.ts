import { expect, test } from 'vitest'
import { sharedLimits } from '../../src/daemon/shared-limits.ts'
import type { Watch } from '../../src/daemon/watch.ts'
import { rateBudget } from '../../src/polling/rate-budget.ts'
import { virtualClock } from '../clock/virtual-clock.ts'
import { memoryCluster } from '../cluster/memory-cluster.ts'

/** Daemons with five targets, three of which have one key, and what each is granted in so many seconds. */
function cluster(names: readonly string[]) {
  const clock = virtualClock()
  const holds = new Map<string, number>()
  const sharing = {
    ...memoryCluster(clock).sharing(10),
    holds: async (keys: readonly string[]) => new Map([...holds].filter(([key]) => keys.includes(key))),
  }
  const keys = { a: 'one', b: 'one', c: 'one', d: 'another', e: 'another' }
  const daemons = names.map(() => {
    const running = new Set<string>()
    const budgetFor = () =>
      rateBudget({ clock, maxRequestsPerMinute: 600, heldUntil: undefined, onHold: () => undefined })
    const budgets = new Map([
      ['one', budgetFor()],
      ['another', budgetFor()],
    ])
    const watches = new Map(
      Object.entries(keys).map(([target, budgetKey]) => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what limits go by
        return [target, { budgetKey, keeper: { target }, part: { poll: { maxRequestsPerMinute: 600 } } } as Watch]
      }),
    )
    const store = { sharing }
    const limits = sharedLimits({ store, clock, budgets, watches, isRunning: (name) => running.has(name) })
    for (const watch of watches.values()) limits.share(watch)
    return { running, budgets, watches, limits }
  })
  type Daemon = (typeof daemons)[number]
  const watch = ({ running, limits, watches }: Daemon, ...targets: string[]) => {
    running.clear()
    for (const target of targets) running.add(target)
    for (const each of watches.values()) limits.share(each)
  }
  /** How much a daemon is granted that always wants more. */
  async function granted({ budgets }: Daemon, key: string, seconds: number) {
    const enough = new AbortController()
    let count = 0
    for (let i = 0; i < 1000; i++) {
      budgets
        .get(key)!
        .take(enough.signal)
        .then(
          () => (count += 1),
          () => undefined,
        )
    }
    await clock.advance(seconds)
    enough.abort()
    await clock.advance(0)
    return count
  }
  return { clock, holds, daemons, watch, granted }
}

test('daemons that share the targets of a key share its limit, by how many of them each has', async () => {
  const { daemons, watch, granted } = cluster(['x', 'y'])
  const [x, y] = [daemons[0]!, daemons[1]!]
  watch(x, 'a', 'b', 'd')
  watch(y, 'c', 'e')
  const both = await Promise.all([granted(x, 'one', 60), granted(y, 'one', 60)])
  // Nine tenths of 600 in a minute, from an empty bucket.
  expect(both).toEqual([360, 180])
  watch(x)
  watch(y, 'a', 'b', 'c')
  expect(await Promise.all([granted(x, 'one', 60), granted(y, 'one', 60)])).toEqual([0, 540])
})

test('what the service asked of the daemon before holds for the one that takes over', async () => {
  const { daemons, clock, holds, granted, watch } = cluster(['x'])
  const [x] = [daemons[0]!]
  watch(x, 'a', 'b', 'c')
  holds.set('one', clock.wall() + 30)
  await x.limits.hold('one')
  expect(await granted(x, 'one', 29)).toBe(0)
  expect(await granted(x, 'one', 30)).toBeGreaterThan(100)
})
