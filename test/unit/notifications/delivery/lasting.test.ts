import { expect, test } from 'vitest'
import { DeliveryError } from '../../../../src/network/delivery-error.ts'
import { ERRORS, ruleNamed, sending, type Sending } from '../../../kit/notifications/delivery/sending.ts'

/** What a receiver is told of while a group fires on several targets. */
const RULES = [ruleNamed('High', 'warning'), ruleNamed('VeryHigh', 'critical')]
const [WAIT, INTERVAL] = [20, 300]
const GROUPED = { groupBy: ['alert', 'severity'], groupWait: WAIT, groupInterval: INTERVAL, targets: 300 } as const
const high = (n: number) => ({ name: 'High', target: `t${n}` })
const veryHigh = (n: number) => ({ name: 'VeryHigh', target: `t${n}`, severity: 'critical' as const })

const begin = (options: Parameters<typeof sending>[0] = {}) => sending({ ...GROUPED, rules: RULES, ...options })

async function fire({ fire }: Sending, ...alerts: Parameters<Sending['fire']>[0][]) {
  for (const alert of alerts) await fire(alert)
}

/** A silence from now on, for so many seconds. */
async function silence({ store, clock }: Sending, match: { target?: string; alert?: string }, seconds: number) {
  const since = clock.wall()
  await store.addSilence({ match, since, until: since + seconds, reason: 'deploy' })
}

/** The seconds at which a change of an alert was told. */
const toldAt = ({ messages, received }: Sending, target: string, alert: string, kind: string) =>
  messages.flatMap((message, i) => {
    const alerts = message.kind === 'alerts' ? message.alerts.map(({ notification }) => notification) : []
    const isTold = alerts.some((one) => one.target === target && one.alert === alert && one.kind === kind)
    return isTold ? Math.round(received[i]![0] - received[0]![0]) + WAIT : []
  })

test('a critical alert that was silenced when a message went out is told at once when its silence ends', async () => {
  const run = begin()
  await silence(run, { alert: 'VeryHigh' }, 100)
  await fire(run, high(0), high(1), high(2), veryHigh(1))
  await run.clock.advance(1200)
  expect(toldAt(run, 't1', 'VeryHigh', 'firing')).toEqual([100])
})

test('an alert that was silenced is told when its silence ends, and its end', async () => {
  const run = begin()
  await silence(run, { target: 't2' }, 900)
  await fire(run, high(0), high(1), high(2))
  await run.clock.advance(1500)
  await run.resolve(high(2))
  await run.clock.advance(600)
  expect(toldAt(run, 't2', 'High', 'firing')).toEqual([900])
  expect(toldAt(run, 't2', 'High', 'resolved')).toHaveLength(1)
})

test('a further target is told after the interval, also if another one ended in silence', async () => {
  const run = begin()
  await silence(run, { target: 't2' }, 900)
  await fire(run, high(0), high(1), high(2))
  await run.clock.advance(60)
  await run.resolve(high(2))
  await run.clock.advance(60)
  await fire(run, high(3))
  await run.clock.advance(600)
  expect(toldAt(run, 't3', 'High', 'firing')).toEqual([320])
})

test('further warnings are told after the interval, also while one target is critical', async () => {
  const run = begin()
  await fire(run, high(0), high(1), high(2), veryHigh(0))
  await run.clock.advance(60)
  await fire(run, high(3), high(4))
  await run.clock.advance(600)
  expect(toldAt(run, 't4', 'High', 'firing')).toEqual([320])
})

test.each(['whose answer was lost', 'before which the process died'])(
  'a message about a more severe alert %s is sent again at once',
  async (how) => {
    let isArmed = false
    const run: Sending = begin({
      receive: (_message, attempt) =>
        attempt === 2 && how.includes('answer')
          ? new DeliveryError('timeout', { retryable: true, mayHaveArrived: true })
          : undefined,
      onStep: () => {
        if (!isArmed || run.steps.at(-1) !== 'claimOutbox') return
        isArmed = false
        run.kill()
      },
    })
    await fire(run, high(1))
    await run.clock.advance(60)
    isArmed = how.includes('died')
    await fire(run, veryHigh(1))
    await run.clock.advance(5)
    if (how.includes('died')) run.restart()
    await run.clock.advance(30)
    const times = toldAt(run, 't1', 'VeryHigh', 'firing')
    expect(times.at(-1)).toBeLessThan(80)
    expect(times).toHaveLength(how.includes('died') ? 1 : 2)
  },
)

test('requests that fail for a while amid an incident are no reason for a message, and leave nothing behind', async () => {
  const run = begin({ groupBy: ['alert'], rules: [] })
  await fire(run, ...[0, 1, 2].map((n) => ({ name: ERRORS, target: `t${n}` })))
  await run.clock.advance(60)
  for (let i = 0; i < 5; i++) {
    await fire(run, { name: ERRORS, target: 'x' })
    await run.clock.advance(10)
    await run.resolve({ name: ERRORS, target: 'x' })
    await run.clock.advance(290)
  }
  expect(run.received).toHaveLength(1)
  expect(await run.waiting()).toEqual([])
})

test('an end is told although another alert on the same calls flaps', async () => {
  const run = begin()
  await fire(run, high(0), high(1), high(2))
  await run.clock.advance(400)
  await run.resolve(high(2))
  for (let i = 0; i < 10; i++) {
    await fire(run, { ...veryHigh(2), severity: 'warning' })
    await run.clock.advance(15)
    await run.resolve({ ...veryHigh(2), severity: 'warning' })
    await run.clock.advance(15)
  }
  expect(toldAt(run, 't2', 'High', 'resolved')).toEqual([420])
})

test('a change is told after the interval, also if the clock was set back and other groups send all the time', async () => {
  const run = begin({ groupBy: ['target', 'alert'] })
  await fire(run, high(1), high(2))
  await run.clock.advance(60)
  run.clock.stepWall(-7200)
  await run.clock.advance(60)
  await run.fire(high(1), { key: 'High{type="video"}' })
  for (let i = 0; i < 6; i++) {
    await fire(run, { name: 'Other', target: `o${i}`, severity: 'critical' })
    await run.clock.advance(100)
  }
  expect(toldAt(run, 't1', 'High', 'firing')).toHaveLength(2)
})

test('a critical alert after warnings that flapped is told after the wait', async () => {
  const run = begin()
  for (let i = 0; i < 3; i++) {
    await fire(run, high(1))
    await run.clock.advance(30)
    await run.resolve(high(1))
    await run.clock.advance(10)
  }
  await fire(run, veryHigh(1))
  await run.clock.advance(60)
  expect(toldAt(run, 't1', 'VeryHigh', 'firing')).toEqual([140])
})

test('the reminders of an incident that grew over minutes are one message', async () => {
  const run = begin()
  for (const n of [0, 1, 2]) {
    await fire(run, high(n))
    await run.clock.advance(60)
  }
  await run.clock.advance(14_400 - 180)
  const before = run.received.length
  for (const n of [0, 1, 2]) {
    await run.remind(high(n))
    await run.clock.advance(60)
  }
  await run.clock.advance(3600)
  expect(run.received).toHaveLength(before + 1)
  expect(toldAt(run, 't0', 'High', 'reminder')).toHaveLength(1)
})
