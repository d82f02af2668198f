import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../src/clock/clock.ts'
import { virtualClock } from './virtual-clock.ts'

/** The clocks of a virtual machine: while it is paused they stand still, and when it is resumed they are behind. */
export function pausableClock() {
  const clock = virtualClock(systemClock.wall())
  const machine = { isPaused: false, isOn: true }
  let step = Promise.resolve()
  const run = async () => {
    for (let before = systemClock.monotonic(); machine.isOn; await sleep(10)) {
      const now = systemClock.monotonic()
      if (!machine.isPaused) await (step = clock.advance(now - before))
      before = now
    }
  }
  const running = run()
  onTestFinished(async () => {
    machine.isOn = false
    await running
  })
  return {
    clock,
    pause: async () => {
      machine.isPaused = true
      await step
    },
    resume: () => void (machine.isPaused = false),
    /** While it is paused: runs on by so many seconds, in a fraction of them. */
    hurry: async (seconds: number) => {
      for (let i = 0; i < seconds; i++) {
        await clock.advance(1)
        await sleep(5)
      }
    },
  }
}
