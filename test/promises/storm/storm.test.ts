import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { DeliveryError } from '../../../src/network/delivery-error.ts'
import type { AlertMessage } from '../../../src/notifications/message.ts'
import { slackMessage } from '../../../src/notifications/receivers/slack/slack-message.ts'
import { POLL_AGE } from '../../kit/alerts/sample-rules.ts'
import { AT, ruleNamed, sending, type Named } from '../../kit/notifications/delivery/sending.ts'
import { untold } from '../../kit/notifications/untold.ts'

const TARGETS = 300
const GROUP_WAIT = 20
const GROWTH_SECONDS = 240
const WARNING = { name: 'HighFailureRate' }
const CRITICAL = { name: 'VeryHighFailureRate', severity: 'critical' as const }
const RULES = [ruleNamed(WARNING.name, 'warning'), ruleNamed(CRITICAL.name, 'critical')]

/** A receiver is tried again this long after it refused at the latest (seconds). */
const RETRY_SECONDS = 120

/** An incident is edited each fifteen seconds, after the posts and the edits of others that are due in the same second. */
const TRUE_WITHIN_SECONDS = 18

/** A storm: how it grows, what happens amid it, and when (seconds). */
const anyStorm = fc.record({
  hit: fc.integer({ min: 2, max: TARGETS }),
  shape: fc.constantFrom('linear' as const, 'doubling' as const, 'at once' as const),
  becomesCritical: fc.boolean(),
  refusesAt: fc.option(fc.integer({ min: 0, max: GROWTH_SECONDS }), { nil: undefined }),
  refusesFor: fc.integer({ min: 1, max: 120 }),
  outageAt: fc.option(fc.integer({ min: 30, max: GROWTH_SECONDS }), { nil: undefined }),
  /** It is over before the end, as nothing can end on a target without polls. */
  outageFor: fc.integer({ min: 10, max: 190 }),
  diesAt: fc.array(fc.integer({ min: 0, max: 900 }), { maxLength: 3 }),
  /** By how much the clock of the daemon that takes over is ahead (seconds). */
  ahead: fc.constantFrom(0, 0.7, -0.7),
  silences: fc.boolean(),
  flapping: fc.nat({ max: 20 }),
})
type Storm = typeof anyStorm extends fc.Arbitrary<infer T> ? T : never

/** When the n-th of the targets that are hit begins to fail (seconds). */
function begins(n: number, { hit, shape }: Storm): number {
  if (shape === 'at once') return n % 15
  if (shape === 'linear') return (GROWTH_SECONDS * n) / hit
  return (GROWTH_SECONDS * Math.log2(n + 1)) / Math.log2(hit + 1)
}

/** What a message said, and on how many targets alerts fired then, by the alerts themselves. */
type Told = { at: number; message: AlertMessage; firing: number; isRefused: boolean }

/** @param edits whether the receiver edits its messages, and in which second so many alerts fire and this message is shown */
async function weather(storm: Storm, edits?: (second: number, firing: number, shown: Told | undefined) => void) {
  let second = 0
  const told: Told[] = []
  const isRefusing = () =>
    storm.refusesAt !== undefined && second >= storm.refusesAt && second < storm.refusesAt + storm.refusesFor
  const run = sending({
    groupBy: ['alert', 'severity'],
    groupWait: GROUP_WAIT,
    groupInterval: 300,
    targets: TARGETS,
    rules: RULES,
    edits: edits !== undefined,
    receive: (message) => {
      if (message.kind !== 'alerts') return undefined
      const isRefused = isRefusing()
      if (message.group.alert === CRITICAL.name) told.push({ at: second, message, firing: firing(), isRefused })
      return isRefused ? new DeliveryError('busy', { retryable: true }) : Promise.resolve(message.group.alert)
    },
  })
  const firing = () => {
    const names: string[] = RULES.map(({ name }) => name)
    const alerts = [...run.live.values()].filter(({ instance }) => names.includes(instance.rule.name))
    return new Set(alerts.map(({ target }) => target)).size
  }
  const target = (n: number) => `target ${n}`
  const isLive = ({ name, target: on }: Named) => run.live.has(`${on} ${name}`)
  const begun = Array.from({ length: storm.hit }, (_, n) => Math.floor(begins(n, storm)))
  const end = GROWTH_SECONDS + 200
  if (storm.silences)
    await run.store.addSilence({ match: { target: target(1) }, since: AT, until: AT + 300, reason: 'deploy' })
  for (; second < end + 400; second += 1) {
    for (let n = 0; n < storm.hit; n++) {
      const at = begun[n]!
      const warning = { ...WARNING, target: target(n) }
      const critical = { ...CRITICAL, target: target(n) }
      if (second === at) await run.fire(warning)
      if (storm.becomesCritical && second === at + 15) await run.fire(critical)
      if (n > 0 && n <= storm.flapping && second > at && second < end - 60 && (second - at) % 90 === 0)
        await (isLive(warning) ? run.resolve(warning) : run.fire(warning))
      if (second === end + (n % 15)) for (const one of [critical, warning]) if (isLive(one)) await run.resolve(one)
    }
    if (storm.outageAt !== undefined) {
      const polls = { name: POLL_AGE.name, severity: 'critical' as const, target: target(0) }
      if (second === storm.outageAt) await run.fire(polls)
      if (second === storm.outageAt + storm.outageFor) await run.resolve(polls)
    }
    if (storm.diesAt.includes(second)) {
      run.restart()
      run.clock.stepWall(storm.ahead)
    }
    await run.clock.advance(1)
    edits?.(
      second,
      firing(),
      told.findLast(({ isRefused }) => !isRefused),
    )
  }
  return { told, left: await untold(run.store) }
}

/** Polls fail on the target that fires while the end of another alert is told, which a receiver that refused never knew. */
const SUPPRESSED: Storm = {
  hit: 2,
  shape: 'at once',
  becomesCritical: false,
  refusesAt: 7,
  refusesFor: 79,
  outageAt: 144,
  outageFor: 12,
  diesAt: [732],
  ahead: -0.7,
  silences: false,
  flapping: 3,
}

test('a storm is few messages, soon, and each of them is true when it is sent', async () => {
  await fc.assert(
    fc.asyncProperty(anyStorm, async (storm) => {
      const { told, left } = await weather(storm)
      const sent = told.filter(({ isRefused }) => !isRefused)
      expect(left).toEqual([])
      const isDelayed = storm.refusesAt !== undefined || storm.diesAt.length > 0 || storm.outageAt !== undefined
      // A critical alert, fifteen seconds later, suppresses the one that waits, and waits itself.
      const wait = GROUP_WAIT + (storm.becomesCritical ? 15 : 0)
      if (!isDelayed) expect(sent[0]!.at).toBeLessThanOrEqual(wait + 2)
      // The first, one of growth, one after the interval, and the end; of eight doublings in four minutes, three are told.
      expect(sent.length).toBeLessThanOrEqual(storm.shape === 'doubling' ? 6 : 4)
      for (const { message, firing } of sent) {
        expect(message.incident?.targets.firing ?? 0).toBe(firing)
        if (message.target !== undefined) continue
        const slack = slackMessage(message, { now: AT })
        expect(JSON.stringify(slack).length).toBeLessThanOrEqual(1500)
        if (firing > 1) expect(slack.text).toContain(`${firing} of 300 targets`)
      }
      expect(sent.at(-1)!.message.incident).toBeUndefined()
    }),
    { numRuns: 6 },
  )
})

test('a storm is one message of a receiver that edits, true within seconds while its requests succeed', async () => {
  await fc.assert(
    fc.asyncProperty(anyStorm, async (storm) => {
      const fired: number[] = []
      const { refusesAt = Infinity, refusesFor, diesAt } = storm
      const { told } = await weather(storm, (second, firing, shown) => {
        fired.push(firing)
        const isDelayed =
          (second >= refusesAt && second < refusesAt + refusesFor + RETRY_SECONDS) ||
          diesAt.some((at) => second >= at && second < at + RETRY_SECONDS)
        // What was is told alone while what fires is suppressed.
        if (shown === undefined || isDelayed || (shown.message.about === 'was' && firing > 0)) return
        expect(fired.slice(-TRUE_WITHIN_SECONDS)).toContain(shown.message.incident?.targets.firing ?? 0)
      })
      const posted = told.filter(({ message, isRefused }) => !isRefused && message.thread === undefined)
      // An end that comes after all was silenced, inhibited or over may be a message of its own.
      const isTold = posted.some(({ message }) => message.about !== 'was')
      expect(posted.filter(({ message }) => message.incident !== undefined)).toHaveLength(Number(isTold))
      expect(told.at(-1)!.message.incident).toBeUndefined()
    }),
    { numRuns: 6, examples: [[SUPPRESSED], [{ ...SUPPRESSED, hit: 10, diesAt: [12, 689, 105] }]] },
  )
})

const STORM: Storm = {
  hit: TARGETS,
  shape: 'linear',
  becomesCritical: true,
  refusesAt: 100,
  refusesFor: 40,
  outageAt: 60,
  outageFor: 120,
  diesAt: [90, 300],
  ahead: 0.7,
  silences: true,
  flapping: 10,
}

test.each([
  ['grows over four minutes', {}],
  ['is found by the next poll of each target', { shape: 'at once' as const }],
])('an incident on three hundred targets that %s is four messages', async (_how, differing) => {
  const { told } = await weather({ ...STORM, ...differing })
  const sent = told.filter(({ isRefused }) => !isRefused)
  expect(sent.length).toBeLessThanOrEqual(4)
})
