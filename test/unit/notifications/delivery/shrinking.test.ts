import { expect, test } from 'vitest'
import type { Severity } from '../../../../src/alerts/match-keys.ts'
import { groupLines, groupTitle } from '../../../../src/notifications/text/group-text.ts'
import { emailMessage } from '../../../../src/notifications/receivers/email/email-message.ts'
import { slackMessage } from '../../../../src/notifications/receivers/slack/slack-message.ts'
import { FIRING, messageOf, RESOLVED, update } from '../../../kit/notifications/sample.ts'
import { AT, changeOf, liveAlert, ruleNamed, sending } from '../../../kit/notifications/delivery/sending.ts'

const RULES = [ruleNamed('High', 'warning'), ruleNamed('VeryHigh', 'critical')]
const high = (n: number) => ({ name: 'High', severity: 'warning' as Severity, target: `shop-${n}` })
const veryHigh = (n: number) => ({ name: 'VeryHigh', severity: 'critical' as Severity, target: `shop-${n}` })

/** A receiver of incidents on several of thirty targets, and what its last message says. */
function incident() {
  const run = sending({ groupBy: ['alert', 'severity'], groupWait: 20, groupInterval: 60, targets: 30, rules: RULES })
  const last = () => {
    const message = run.messages.at(-1)
    if (message?.kind !== 'alerts') throw new Error('no alerts')
    return { title: groupTitle(message), lines: groupLines(message), message }
  }
  return { run, last }
}

test('an incident on fewer targets than its receiver was told shrinks, even while alerts are pending on others', async () => {
  const { run, last } = incident()
  for (let n = 0; n < 10; n++) await run.fire(high(n))
  await run.clock.advance(100)
  expect(last().lines[0]).toMatch(/, lasting$/)
  for (let n = 0; n < 4; n++) await run.resolve(high(n))
  const pending = liveAlert(high(20), changeOf(high(20), 'firing', AT))
  run.live.set('pending', { ...pending, instance: { ...pending.instance, state: 'pending' } })
  await run.clock.advance(100)
  expect(last().lines[0]).toMatch(/, shrinking, was 10 targets$/)
  expect(last().message.incident?.course).toBe('lasts')
})

test('only targets on which nothing of an incident fires any more have ended in its messages', async () => {
  const { run, last } = incident()
  for (let n = 0; n < 10; n++) {
    await run.fire(high(n))
    await run.fire(veryHigh(n))
  }
  await run.clock.advance(100)
  for (let n = 0; n < 6; n++) await run.resolve(veryHigh(n))
  for (let n = 0; n < 2; n++) await run.resolve(high(n))
  await run.clock.advance(100)
  expect(last().title).toMatch(/^8 of 30 targets: /)
  expect(last().lines).toContain('Ended: resolved on 2 targets')
  expect(last().lines.find((line) => line.startsWith('Longest'))).toMatch(/ on shop-[01]$/)
  for (let n = 6; n < 10; n++) await run.resolve(veryHigh(n))
  await run.clock.advance(100)
  expect(last().title).toMatch(/^8 of 30 targets: [^;]*$/)
  expect(last().lines.join()).not.toMatch(/Ended|Longest|any more/)
})

test.each([1, 2])(
  'the last message about an incident says on how many targets it was, if it is about %d',
  async (left) => {
    const { run, last } = incident()
    for (let n = 0; n < 10; n++) await run.fire(high(n), { since: AT - 60 })
    await run.clock.advance(100)
    for (let n = left; n < 10; n++) await run.resolve(high(n))
    await run.clock.advance(100)
    const said = () => emailMessage(last().message, { now: AT + 300, dashboardUrl: undefined }).text
    expect(said()).not.toContain('The incident')
    for (let n = 0; n < left; n++) await run.resolve(high(n))
    await run.clock.advance(100)
    expect(said()).toContain(
      '\nThe incident was on up to 10 targets; on the others it ended earlier, or nobody was notified of it',
    )
  },
)

test('the message that all of an incident is over does not repeat on how many targets it was', async () => {
  const { run, last } = incident()
  for (let n = 0; n < 10; n++) await run.fire(high(n))
  await run.clock.advance(100)
  for (let n = 0; n < 10; n++) await run.resolve(high(n))
  await run.clock.advance(100)
  expect([last().title, last().lines]).toEqual(['High resolved on 10 targets', [expect.stringMatching(/^Longest/)]])
})

test('an incident began when its first message said so, and was as that and the last one said, also after its first alerts have ended', async () => {
  const { run, last } = incident()
  const { signal, counts } = FIRING
  const failing = { signal, counts: counts!, calls: 40, value: 0.4, threshold: 0.3 }
  for (let n = 0; n < 10; n++) {
    await run.fire(high(n), { ...failing, since: AT + n - 120 })
    run.see(high(n), { valueBefore: n === 0 ? 0.05 : 0.1 + n / 100 })
    await run.clock.advance(n === 0 ? 100 : 1)
  }
  await run.clock.advance(100)
  const [course] = last().lines
  expect(course).toMatch(/^Since 2026-11-20 08:13:30 UTC, .*; was 5% before, 42.5% at 08:17:11 UTC$/)
  for (let n = 0; n < 4; n++) await run.resolve(high(n), failing)
  await run.clock.advance(100)
  expect(last().lines[0]).toBe(
    'Since 2026-11-20 08:13:30 UTC, shrinking, was 10 targets; was 5% before, 42.5% at 08:18:11 UTC',
  )
})

test('an incident on fewer targets does not shrink where it is more severe, or more of its calls fail', async () => {
  for (const worse of [veryHigh, high]) {
    const { run, last } = incident()
    const share = { signal: FIRING.signal, counts: FIRING.counts!, calls: 40, value: 0.4, threshold: 0.3 }
    const failing = worse === high ? share : {}
    for (let n = 0; n < 10; n++) await run.fire(high(n), failing)
    await run.clock.advance(100)
    for (let n = 0; n < 4; n++) await run.resolve(high(n), failing)
    if (worse === veryHigh) await run.fire(veryHigh(9))
    else for (let n = 4; n < 10; n++) run.see(high(n), { counts: { ...share.counts, rejected: 30 } })
    await run.clock.advance(100)
    expect(last().title).toMatch(/^6 of 30 targets/)
    expect(last().lines[0]).toMatch(/, lasting/)
  }
})

test('a target on which only the more severe of two alerts resolved improves, with the value of now and the worst', () => {
  const resolved = { ...RESOLVED, alert: 'VeryHigh', key: 'VeryHigh', peak: 0.983 }
  const message = messageOf([update({ ...FIRING, severity: 'warning', value: 0.242, peak: 0.983 }), update(resolved)])
  const said = 'warning: production improves: HighFailureRate still fires at 24.2%, was 98.3% at most'
  const options = { now: AT, dashboardUrl: undefined }
  expect(slackMessage({ ...message, severity: 'warning' }, options).text).toContain(said)
  expect(emailMessage({ ...message, severity: 'warning' }, options).subject).toBe(`[firing] ${said.replace(':', '')}`)
})

test('the end of an alert says what else of its incident was notified before, and still fires on its target', () => {
  const resolved = { ...RESOLVED, alert: 'VeryHigh', key: 'VeryHigh', peak: 0.983 }
  const unchanged = [update({ ...FIRING, severity: 'warning', value: 0.342, peak: 0.983 })]
  const message = { ...messageOf([update(resolved)]), unchanged, severity: 'warning' as const }
  const said = 'warning: production improves: HighFailureRate still fires at 34.2%, was 98.3% at most'
  const options = { now: AT, dashboardUrl: undefined }
  expect(slackMessage(message, options).text).toContain(said)
  expect(emailMessage(message, options).subject).toBe(`[firing] ${said.replace(':', '')}`)
  expect(emailMessage(message, options).text).toContain('[resolved] VeryHigh')
  const flapped = [{ notification: resolved, times: 1, peak: 0.983, endedAt: AT }]
  const over = slackMessage({ ...message, alerts: [], flapped }, options)
  expect(over.text).toMatch(/^🟠 warning: HighFailureRate on production: /)
  expect(JSON.stringify(over.blocks)).toMatch(/VeryHigh.{1,3}fired and resolved at /)
})

test('an incident that was told of far fewer targets begins anew: no share of before is said', async () => {
  const { run, last } = incident()
  const { signal, counts } = FIRING
  const failing = { signal, counts: counts!, calls: 40, value: 0.4, threshold: 0.3 }
  await run.fire(high(0), { ...failing, since: AT - 9000 })
  await run.clock.advance(100)
  for (let n = 1; n < 22; n++) await run.fire(high(n), { ...failing, since: AT + 60 })
  await run.clock.advance(100)
  expect(last().lines[0]).toBe('Since 2026-11-20 08:16:30 UTC, growing')
})

test('an incident that was told to recover does not shrink when it begins anew on fewer targets', async () => {
  const { run, last } = incident()
  for (let n = 0; n < 10; n++) await run.fire(high(n))
  await run.clock.advance(100)
  for (let n = 0; n < 10; n++) run.see(high(n), { state: 'recovering' })
  await run.resolve(high(0))
  await run.clock.advance(100)
  expect(last().lines[0]).toMatch(/, ending/)
  for (let n = 1; n < 9; n++) await run.resolve(high(n))
  for (let n = 20; n < 25; n++) await run.fire(high(n), { since: AT + 250 })
  await run.clock.advance(100)
  expect(last().lines[0]).toMatch(/, (?:growing|lasting)$/)
})

test('an incident that begins anew was not on the targets of the one before', async () => {
  const { run, last } = incident()
  for (let n = 0; n < 20; n++) await run.fire(high(n), { since: AT - 60 })
  await run.clock.advance(200)
  for (let n = 0; n < 20; n++) await run.resolve(high(n))
  for (const n of [25, 26]) await run.fire(high(n))
  await run.clock.advance(100)
  expect(last().lines[0]).toMatch(/^Since 2026-11-20 08:18:50 UTC/)
  for (const n of [25, 26]) await run.resolve(high(n))
  await run.clock.advance(200)
  expect(last().title).toMatch(/resolved on 2 targets$/)
  expect(last().lines.join()).not.toContain('The incident was on')
})

test('the growth of an incident that begins anew is told at once, also if the one before had grown', async () => {
  const run = sending({ groupBy: ['alert', 'severity'], groupWait: 20, groupInterval: 300, targets: 100, rules: RULES })
  await run.fire(high(0))
  await run.clock.advance(60)
  for (const n of [1, 2, 3]) await run.fire(high(n))
  await run.clock.advance(100)
  for (const n of [0, 1, 2, 3]) await run.resolve(high(n))
  for (const n of [20, 21]) await run.fire(high(n))
  await run.clock.advance(250)
  const told = run.messages.length
  for (let n = 10; n < 20; n++) await run.fire(high(n))
  await run.clock.advance(60)
  expect(run.messages.length - told).toBe(1)
})

test('a message about what is beyond its threshold has its severity, although most targets recover', async () => {
  const { run, last } = incident()
  for (let n = 0; n < 6; n++) await run.fire(high(n))
  await run.clock.advance(100)
  for (let n = 0; n < 5; n++) run.see(high(n), { state: 'recovering' })
  await run.fire(veryHigh(5))
  await run.clock.advance(100)
  const options = { now: AT, dashboardUrl: undefined }
  expect(last().message).toMatchObject({ severity: 'critical', isWorse: true, incident: { course: 'ends' } })
  expect(slackMessage(last().message, options).text).toMatch(/^🔴 critical: /)
  expect(emailMessage(last().message, options).subject).toMatch(/^\[firing\] critical /)
})

test('an alert that recovers before it is told is told with its severity', async () => {
  const { run, last } = incident()
  for (let n = 0; n < 2; n++) {
    await run.fire(high(n))
    await run.fire(veryHigh(n))
    for (const one of [high(n), veryHigh(n)]) run.see(one, { state: 'recovering' })
  }
  await run.clock.advance(100)
  expect(last().message).toMatchObject({ severity: 'critical', incident: { course: 'ends' } })
  // It wakes nobody: it is neither red nor critical.
  const about = { now: AT, dashboardUrl: undefined }
  expect(JSON.stringify(slackMessage(last().message, about))).toContain('"🟡 Recovering: 2 of 30 targets')
  expect(emailMessage(last().message, about).subject).toMatch(/^Recovering: 2 of 30 targets/)
})

test('an incident on twice as many targets as its receiver was told grows, however soon after the first they fired', async () => {
  const { run, last } = incident()
  for (let n = 0; n < 4; n++) await run.fire(high(n), { firingSince: AT })
  await run.clock.advance(100)
  for (let n = 4; n < 8; n++) await run.fire(high(n), { firingSince: AT + 20 })
  await run.clock.advance(100)
  expect(last().title).toMatch(/^8 of 30 targets/)
  expect(last().lines[0]).toMatch(/, growing$/)
})

test('on one target, what recovers is in one message with its end, an interval later at most, and at once if it breaches again', async () => {
  for (const then of ['resolved', 'recovering', 'firing']) {
    const { run, last } = incident()
    await run.fire(high(0))
    await run.fire(veryHigh(0))
    await run.clock.advance(100)
    run.see(high(0), { state: 'recovering' })
    await run.resolve(veryHigh(0))
    await run.clock.advance(50)
    expect(run.messages).toHaveLength(1)
    if (then === 'resolved') await run.resolve(high(0))
    if (then === 'firing') run.see(high(0), { state: 'firing' })
    await run.clock.advance(then === 'recovering' ? 15 : 5)
    expect([run.messages.length, last().message.incident?.course]).toEqual([
      2,
      { resolved: undefined, recovering: 'ends', firing: 'lasts' }[then],
    ])
  }
})

test('the end of an alert waits an interval at most, also while other incidents begin', async () => {
  const run = sending({ groupBy: ['target'], groupWait: 20, groupInterval: 60, targets: 30, rules: RULES })
  await run.fire(high(0))
  await run.fire(veryHigh(0))
  await run.clock.advance(100)
  run.see(high(0), { state: 'recovering' })
  await run.resolve(veryHigh(0))
  for (let n = 1; n < 10; n++) {
    await run.fire(veryHigh(n))
    await run.clock.advance(50)
  }
  const [at] = run.received.find(([, text]) => text.includes('resolved VeryHigh'))!
  expect(at).toBeGreaterThan(150)
  expect(at).toBeLessThan(165)
})

test('a new alert on the only target of an incident is told although it is back within its threshold', async () => {
  const { run } = incident()
  await run.fire(high(0))
  await run.clock.advance(100)
  await run.fire({ ...high(0), name: 'Other' })
  for (const one of [high(0), { ...high(0), name: 'Other' }]) run.see(one, { state: 'recovering' })
  await run.clock.advance(25)
  expect(run.received.at(-1)![1]).toContain('Other')
})
