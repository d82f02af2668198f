import { NEVER } from 'rxjs'
import { expect, onTestFinished, test } from 'vitest'
import type { DaemonEvent } from '../../../src/daemon/daemon-event.ts'
import { runJobs } from '../../../src/daemon/jobs.ts'
import { newOverviews } from '../../../src/daemon/overviews.ts'
import type { Target } from '../../../src/pipeline/target.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { memoryCluster } from '../cluster/memory-cluster.ts'
import { shownTarget } from '../../kit/web/serve.ts'

const NAMES = ['a', 'b']

/** Two daemons: the first owns target a, the second target b. */
async function two() {
  const clock = virtualClock()
  const cluster = memoryCluster(clock)
  const store = { isReachable: true }
  const start = async (name: string, own: string) => {
    const clusterStore = cluster.clusterStore(10_000, () => store.isReachable)
    await clusterStore.join(name, '{}', {})
    await clusterStore.acquire([own], 1)
    const state = {
      problem: undefined as string | undefined,
      loaded: [own],
      loadProblem: undefined as string | undefined,
      broken: {},
      hangs: false,
    }
    const targets = {
      all: () => NAMES,
      owned: () => [own],
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all of a target that an overview shows
      loaded: () => state.loaded.map((target) => ({ ...shownTarget({ target }), ...state.broken }) as Target),
      loading: () => (state.loaded.length === 0 ? [{ name: own, problem: state.loadProblem }] : []),
    }
    const ownership = { ownerOf: (target: string) => `owner of ${target}`, problem: () => state.problem }
    const publish: typeof clusterStore.publish = (texts) =>
      state.hangs ? new Promise(() => undefined) : clusterStore.publish(texts)
    const overviews = newOverviews({ ...clusterStore, publish }, { clock, targets, ownership })
    const events: DaemonEvent[] = []
    const running = runJobs(overviews.jobs, {
      clock,
      ownership: { isLeader: () => true },
      draining$: NEVER,
    }).subscribe((event) => events.push(event))
    onTestFinished(() => running.unsubscribe())
    const acquired = () => overviews.note({ kind: 'ownership', event: { kind: 'acquired', targets: [own] } })
    const problems = () => overviews.others().map(({ name, problem }) => [name, problem])
    const others = () => overviews.others().map(({ name, owner }) => [name, owner])
    return { state, acquired, others, problems, events, isComplete: overviews.isComplete, note: overviews.note }
  }
  return { clock, store, one: await start('one', 'a'), two: await start('two', 'b') }
}

test('each daemon has an overview of the target of the other one within two seconds of a change', async () => {
  const { clock, one, two: other } = await two()
  await clock.advance(5)
  expect([one.others(), other.others()]).toEqual([[], []])
  for (const { acquired } of [one, other]) acquired()
  await clock.advance(2)
  expect([one.others(), other.others()]).toEqual([[['b', 'owner of b']], [['a', 'owner of a']]])
})

test('an overview that could not be written is written once the store can be used', async () => {
  const { clock, store, one, two: other } = await two()
  store.isReachable = false
  one.acquired()
  await clock.advance(5)
  store.isReachable = true
  await clock.advance(2)
  expect(other.others()).toEqual([['a', 'owner of a']])
})

test('a target is shown by its overview while no daemon has loaded it, also by its last owner', async () => {
  const { clock, one } = await two()
  one.acquired()
  await clock.advance(2)
  expect(one.others()).toEqual([])
  one.state.loaded = []
  expect(one.others()).toEqual([['a', 'owner of a']])
})

test('all targets are known once each is loaded or has an overview, and count as known after a minute', async () => {
  const { clock, one, two: other } = await two()
  await clock.advance(5)
  expect([one.isComplete(), other.isComplete()]).toEqual([false, false])
  other.acquired()
  await clock.advance(3)
  expect([one.isComplete(), other.isComplete()]).toEqual([true, false])
  await clock.advance(51)
  expect(other.isComplete()).toBe(false)
  await clock.advance(2)
  expect(other.isComplete()).toBe(true)
})

test('a daemon reads the overviews of others while its own cannot be written', async () => {
  const { clock, one, two: other } = await two()
  one.state.hangs = true
  one.acquired()
  await clock.advance(2)
  other.acquired()
  await clock.advance(2)
  expect(one.others()).toEqual([['b', 'owner of b']])
})

test('a target that its owner cannot load is shown with the reason', async () => {
  const { clock, one } = await two()
  one.acquired()
  await clock.advance(2)
  Object.assign(one.state, { loaded: [], loadProblem: 'the disk is full' })
  expect(one.problems()).toEqual([['a', 'the disk is full']])
})

test('a bug in the overview of one target is reported, and keeps no other one from being written', async () => {
  const { clock, one, two: other } = await two()
  const error = new TypeError('half of a change')
  one.state.broken = {
    health: () => {
      throw error
    },
  }
  for (const { acquired } of [one, other]) acquired()
  await clock.advance(2)
  expect(one.events).toEqual([{ kind: 'overview failed', target: 'a', error }])
  one.state.broken = {}
  one.note({ kind: 'skipped', target: 'a' })
  await clock.advance(2)
  expect(other.others()).toEqual([['a', 'owner of a']])
})
