import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { sending } from '../../kit/notifications/delivery/sending.ts'

const TARGETS = 510
const NAMES = ['A', 'B']
/** In at most so many iterations of the event loop all alerts are read. */
const MOST_TURNS = 40
/** After so many, some are read. */
const AMID = [6, 7, 8, 9, 10]

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await setImmediate()
}

/** @param at after how many iterations of the event loop of a look an answer comes */
async function notify(at: number) {
  const waiting: (() => void)[] = []
  const receive = () => new Promise<undefined>((resolve) => waiting.push(() => resolve(undefined)))
  const run = sending({ groupBy: ['alert'], targets: TARGETS, receive })
  for (const name of NAMES) for (let n = 0; n < TARGETS; n++) await run.fire({ name, target: `t${n}` })
  for (let second = 0; second < 5; second++) {
    const advanced = run.clock.advance(1)
    await turns(at)
    for (const accept of waiting.splice(0)) accept()
    await turns(MOST_TURNS)
    await advanced
  }
  return run.messages.flatMap((message) => (message.kind === 'alerts' ? message.alerts : []))
}

test('thousands of alerts are notified once each, whenever an answer comes while they are looked at', async () => {
  for (const at of AMID) {
    const told = await notify(at)
    expect(told, `an answer after ${at} iterations`).toHaveLength(NAMES.length * TARGETS)
  }
})
