import { interval, take, timer } from 'rxjs'
import { expect, test } from 'vitest'
import { sleep } from '../../src/clock/clock.ts'
import { virtualClock } from './virtual-clock.ts'

test('a virtual clock runs timers at their time, in order, and lets promises settle in between', async () => {
  const clock = virtualClock()
  const seen: [string, number][] = []
  interval(1000, clock.scheduler)
    .pipe(take(3))
    .subscribe((n) => seen.push([`tick ${n}`, clock.monotonic()]))
  void (async () => {
    await sleep(clock, 1.5)
    seen.push(['slept', clock.monotonic()])
    await sleep(clock, 1)
    seen.push(['slept again', clock.monotonic()])
  })()
  await clock.advance(2.4)
  expect(seen).toEqual([
    ['tick 0', 1],
    ['slept', 1.5],
    ['tick 1', 2],
  ])
  await clock.advance(0.7)
  expect(seen.slice(3)).toEqual([
    ['slept again', 2.5],
    ['tick 2', 3],
  ])
})

test('a virtual clock does not run a timer that was unsubscribed', async () => {
  const clock = virtualClock()
  let ran = false
  const waiting = timer(1000, clock.scheduler).subscribe(() => (ran = true))
  await clock.advance(0.5)
  waiting.unsubscribe()
  await clock.advance(5)
  expect(ran).toBe(false)
})

test('a sleep ends early when its signal is aborted', async () => {
  const clock = virtualClock()
  const controller = new AbortController()
  const sleeping = sleep(clock, 10, controller.signal)
  controller.abort()
  await expect(sleeping).rejects.toThrow('aborted while waiting')
})

test('the wall time of a virtual clock can step while its monotonic time continues', async () => {
  const clock = virtualClock(1000)
  clock.stepWall(-100)
  await clock.advance(5)
  expect([clock.wall(), clock.monotonic()]).toEqual([905, 5])
})
