import { describe, expect, test } from 'vitest'
import { subjectOf, type LiveAlert } from '../../../src/alerts/alert.ts'
import type { AlertInstance } from '../../../src/alerts/alert-instance.ts'
import { incidentsOf, type Incident } from '../../../src/alerts/incidents.ts'
import type { Severity } from '../../../src/alerts/match-keys.ts'
import type { Signal } from '../../../src/alerts/signals.ts'
import type { FinishedCounts } from '../../../src/ledger/finished-calls.ts'
import { grouping } from '../../../src/notifications/grouping.ts'
import { incidentLines, incidentSentence } from '../../../src/alerts/text/incident-text.ts'
import { POLL_AGE, ruleOn, shippedRules } from '../../kit/alerts/sample-rules.ts'

/** 2026-11-20 08:15:30 UTC. */
const AT = Date.UTC(2026, 10, 20, 8, 15, 30) / 1000
const RULES = shippedRules()
const groupOf = grouping({ groupBy: ['alert', 'severity'], groupInterval: 300 }, RULES)
const all = (lives: readonly LiveAlert[], of = 300) => incidentsOf(lives, groupOf, of, AT - 45)
const linesOf = (incident: Incident) => incidentLines(incident).map(({ text }) => text)

const RATE = { name: 'failure_ratio', reason: 'any', window: 900, minCalls: 20 } as const
const STUCK = { name: 'stuck_calls', longerThan: 3600 } as const
const BUDGET = { name: 'budget_minutes', limit: 1000, of: 'participants', timezone: 'UTC', cycleDay: 1 } as const

/** Calls of which these failed. */
function counts(total: number, failed: Partial<FinishedCounts>): FinishedCounts {
  const { unanswered = 0, rejected = 0, canceled = 0 } = failed
  const ended = total - unanswered - rejected - canceled
  return { ended, unanswered, rejected, canceled, other: 0, total }
}

/** An alert of a shipped rule. */
function live(name: string, target: string, differing: Partial<AlertInstance> = {}): LiveAlert {
  const rule = RULES.find((one) => one.name === name)!
  const of = differing.counts
  const value = of === undefined ? rule.threshold + 1 : 1 - of.ended / of.total
  const times = { since: AT - 120, firingSince: AT, credited: 0, evaluatedAt: AT }
  const instance = { key: name, labels: {}, rule, state: 'firing' as const, value, peak: value, calls: of?.total }
  return {
    target,
    instance: { ...instance, ...times, counts: of, tooFewSince: undefined, ...differing },
  }
}
const high = (target: string, total: number, unanswered: number, differing: Partial<AlertInstance> = {}) =>
  live('HighFailureRate', target, { counts: counts(total, { unanswered }), ...differing })

describe('an incident', () => {
  test('names the same of equal alerts first, whichever comes first: that of the oldest call, then by name', () => {
    const stuck = (target: string, began: number) =>
      live('StuckCalls', target, { value: 2, evidence: { oldest: { session: target, began } } })
    const lives = [stuck('c', AT - 20_000), stuck('b', AT - 20_000), stuck('a', AT - 10_000)]
    for (const given of [lives, lives.toReversed()]) {
      const [incident] = all(given)
      expect(incident!.worst.map(({ target }) => target)).toEqual(['b', 'c', 'a'])
      expect(linesOf(incident!)).toContainEqual(expect.stringMatching(/^Oldest call: .* session b on b$/))
    }
  })

  test('of an alert and a more severe one on the same calls is one, and counts each target once', () => {
    const lives = ['a', 'b', 'c'].flatMap((target) => [
      high(target, 40, 30),
      ...(target === 'c' ? [] : [live('VeryHighFailureRate', target, { counts: counts(40, { unanswered: 30 }) })]),
    ])
    const [incident, ...others] = all(lives)
    expect(others).toEqual([])
    expect(incident).toMatchObject({
      severity: 'critical',
      labels: { alert: 'VeryHighFailureRate', severity: 'critical' },
      targets: { firing: 3, pending: 0, of: 300 },
      calls: { total: 120, failed: 90, outcome: 'unanswered' },
      others: [],
    })
    expect(incident!.alerts.map(({ alert, target }) => `${alert} ${target}`).toSorted()).toEqual([
      'HighFailureRate c',
      'VeryHighFailureRate a',
      'VeryHighFailureRate b',
    ])
  })

  test('is two where routes tell the severities apart', () => {
    const routes = [{ match: { severity: 'critical' }, notify: ['on-call'] }]
    const routed = grouping({ groupBy: ['alert', 'severity'], groupInterval: 300, routes }, RULES)
    const lives = [high('a', 40, 30), live('VeryHighFailureRate', 'a', { counts: counts(40, { unanswered: 30 }) })]
    expect(incidentsOf(lives, routed, 1).map(({ severity }) => severity)).toEqual(['critical', 'warning'])
  })

  test('of which nothing is beyond its threshold comes after those of its severity, however large it is', () => {
    const within = ['a', 'b'].map((target) => high(target, 40, 4))
    const incidents = all([...within, live('StuckCalls', 'c', { value: 2 })])
    expect(incidents.map(({ worst }) => worst.length)).toEqual([1, 0])
  })

  test('is about what one rule counts, so that each alert of another one is named', () => {
    const incidents = all([live('RingingTooLong', 'a', { value: 3 }), live('StuckCalls', 'a', { value: 2 })])
    expect(incidents.map(({ labels, alerts }) => [labels.alert, alerts.map(({ alert }) => alert)])).toEqual([
      ['RingingTooLong', ['RingingTooLong']],
      ['StuckCalls', ['StuckCalls']],
    ])
    expect(linesOf(incidents[0]!)).toContain('Also firing: StuckCalls on 1 target')
  })

  test('names the rules on the same calls that are no less severe', () => {
    const rule = { ...RULES.find(({ name }) => name === 'HighFailureRate')!, name: 'HighInAnHour' }
    const hourly = high('a', 160, 60, { rule, key: rule.name })
    expect(all([high('a', 40, 30), hourly])[0]!.others).toEqual([{ alert: 'HighInAnHour', targets: 1 }])
  })

  test('names those with most failed calls, not those with the largest share, and none that is cleared', () => {
    const [incident] = all([
      high('small', 20, 20),
      high('large', 1000, 400),
      high('cleared', 5000, 1000, { state: 'recovering' }),
      high('between', 900, 270, { value: 0.25 }),
    ])
    expect(incident!.worst.map(({ target }) => target)).toEqual(['large', 'small'])
    expect(linesOf(incident!)).toContain('Most failed calls: large 40% of 1,000 calls, small 100% of 20 calls')
  })

  test('counts no calls of targets that have too few for a value, and does not name them', () => {
    const few = high('night', 100, 90, { tooFewSince: AT - 60, measuredAt: AT - 75 })
    const [incident] = all([high('day', 100, 40), few])
    expect(incident!.calls).toMatchObject({ total: 100, failed: 40 })
    expect([incident!.targets.firing, incident!.worst.map(({ target }) => target)]).toEqual([2, ['day']])
    // If all have too few, their last values are all that is known.
    expect(all([few])[0]!.calls).toMatchObject({ total: 100, failed: 90 })
  })

  test('began with the first breach of what fires now, and counts pending targets apart', () => {
    const [incident] = all([
      high('a', 40, 30, { since: AT - 300 }),
      high('b', 40, 30, { since: AT - 200 }),
      high('b', 40, 30, { key: 'other', since: AT - 900, state: 'pending' }),
      high('c', 40, 30, { since: AT - 900, state: 'pending' }),
      live('StuckCalls', 'a', { state: 'pending' }),
    ])
    expect(incident).toMatchObject({ since: AT - 300, targets: { firing: 2, pending: 1 }, others: [] })
    expect(incident!.calls).toMatchObject({ total: 80 })
  })

  test('is none while alerts are pending only', () => {
    expect(all([high('a', 40, 30, { state: 'pending' })])).toEqual([])
  })

  test('has what explains it, and in numbers what else fires on its targets', () => {
    const failing = (target: string, cause: string) =>
      [
        live('HighFailureRate', target, { counts: counts(40, { unanswered: 30 }) }),
        { target, instance: { ...live('NoGoodPoll', target).instance, rule: POLL_AGE, evidence: { cause } } },
        live('StuckCalls', target),
      ] as const
    const lives = [...failing('a', 'timeout'), ...failing('b', '503'), ...failing('c', '503'), live('NoCalls', 'd')]
    const incident = all(lives).find(({ labels }) => labels.alert === 'VeryHighFailureRate')!
    expect(incident.causes).toEqual([{ signal: 'poll_age', targets: 3, cause: '503' }])
    // What begins minutes later is no cause.
    const later = lives.map((one) =>
      one.instance.rule === POLL_AGE ? { ...one, instance: { ...one.instance, since: one.instance.since + 301 } } : one,
    )
    expect(all(later).find(({ labels }) => labels.alert === 'VeryHighFailureRate')!.causes).toEqual([])
    // Nor is what has ended by now.
    const over = lives.map((one) =>
      one.instance.rule === POLL_AGE ? { ...one, instance: { ...one.instance, state: 'recovering' as const } } : one,
    )
    expect(all(over).find(({ labels }) => labels.alert === 'VeryHighFailureRate')!.causes).toEqual([])
    expect(incident.others).toEqual([
      { alert: 'NoGoodPoll', targets: 3 },
      { alert: 'StuckCalls', targets: 3 },
    ])
    expect(linesOf(incident)).toContain('Also firing: NoGoodPoll on 3 targets, StuckCalls on 3 targets')
    // That a target is not polled is no cause of failed calls.
    expect(linesOf(incident).join()).not.toContain('Cause')
  })

  test('has failed requests as its cause only while some fail', () => {
    const causesWith = (differing: Partial<AlertInstance>) =>
      all([high('a', 40, 30), live('ServiceErrors', 'a', differing)]).find(({ calls }) => calls !== undefined)!.causes
    expect(causesWith({ evidence: { isQuiet: false } })).toEqual([{ signal: 'request_errors', targets: 1 }])
    expect(causesWith({ evidence: { isQuiet: true } })).toEqual([])
    expect(causesWith({ state: 'recovering' })).toEqual([])
  })

  test('is a sentence, with a label in common', () => {
    const contributor = { label: 'type', value: 'video', failures: 9, ofFailures: 10, calls: 9, ofCalls: 40 } as const
    const evidence = { contributor }
    const lives = ['a', 'b', 'c'].map((target) => high(target, 40, 30, { evidence }))
    const [incident] = all(lives)
    expect(incidentSentence(incident!)).toBe(
      '3 of 300 targets: 75% of 120 ringing calls failed in 15 minutes, mostly unanswered',
    )
    expect(linesOf(incident!)).toEqual([
      'Since 2026-11-20 08:13:30 UTC',
      'Outcomes: unanswered 90, rejected 0, canceled 0, ended 30',
      'Most failed calls: a 75% of 40 calls, b 75% of 40 calls, c 75% of 40 calls',
      'Mostly: type video',
      'Many callers did not get through: 75% of the 120 ringing calls that finished in the last 15m were unanswered, rejected or canceled.',
      expect.stringMatching(/^Rule: HighFailureRate, more than 30% of the ringing calls in the last 15m failed/),
    ])
    const [other, ...two] = lives
    const by = { contributor: { ...contributor, value: 'audio' } as const }
    const instance = { ...other!.instance, evidence: by }
    expect(all([{ ...other!, instance }, ...two])[0]!.contributor).toEqual({ label: 'type', value: 'video' })
    expect(all([{ ...other!, instance }, two[0]!])[0]!.contributor).toBeUndefined()
    expect(incidentSentence(all([other!])[0]!)).toBe(
      'a: 75% of 40 ringing calls failed in 15 minutes, mostly unanswered',
    )
    expect(incidentSentence(all([live('NoGoodPoll', 'a'), live('NoGoodPoll', 'b')])[0]!)).toBe(
      '2 of 300 targets: no successful poll for 5m 1s',
    )
  })

  test('has in its sentence the value of its only alert', () => {
    const errors = (target: string) => live('ServiceErrors', target, { value: 0.45 })
    expect(incidentSentence(all([errors('a')])[0]!)).toBe(
      'a: 45% of the requests to the calls service failed in the last 15m',
    )
    expect(incidentSentence(all([errors('a'), errors('b')])[0]!)).toBe(
      '2 of 300 targets: 45% of the requests to the calls service failed in the last 15m',
    )
    const fewer = live('ServiceErrors', 'c', { value: 0.3 })
    expect(incidentSentence(all([errors('a'), fewer, errors('b')])[0]!)).toBe(
      '3 of 300 targets: 30% to 45% of the requests to the calls service in the last 15m failed',
    )
    const back = (target: string, value: number) => live('ServiceErrors', target, { value, state: 'recovering' })
    expect(incidentSentence(all([back('a', 0.08), back('b', 0.2)])[0]!)).toBe(
      'Recovering: 2 of 300 targets: 8% to 20% of the requests to the calls service in the last 15m failed',
    )
  })

  test('of open calls says how many they are, and which one began first', () => {
    const stuck = (target: string, value: number, began: number) =>
      live('StuckCalls', target, { value, evidence: { oldest: { session: `v1.${target}`, began } } })
    const [incident] = all([live('StuckCalls', 'c'), stuck('b', 3, AT - 15_000), stuck('a', 12, AT - 12_000)])
    expect(incidentSentence(incident!)).toBe('3 of 300 targets: 16 calls have been open for longer than 3h')
    expect(linesOf(incident!).slice(1, 3)).toEqual([
      'Oldest call: since 2026-11-20 04:05:30 UTC, session v1.b on b',
      'Worst: a 12 calls, b 3 calls, c 1 call',
    ])
  })

  test('begins when most of its targets broke: those that broke long before are another matter', () => {
    const sinceOf = (...seconds: number[]) =>
      all(seconds.map((ago, i) => high(`${i}`, 40, 30, { since: AT - ago })))[0]!.since - AT
    const burst = Array.from({ length: 38 }, (_, i) => 300 - 3 * i)
    expect(sinceOf(...burst, 3600, 2000, 1900, 700)).toBe(-300)
    expect(sinceOf(3600, 3000, 300, 290, 280)).toBe(-300)
    expect(sinceOf(3600, 300)).toBe(-3600)
    expect(sinceOf(3600, 300, 290)).toBe(-300)
    // It spreads: slowly, or ever faster.
    expect(sinceOf(...Array.from({ length: 30 }, (_, i) => 120 * i))).toBe(-29 * 120)
    expect(sinceOf(...Array.from({ length: 256 }, (_, i) => 240 - 30 * Math.log2(i + 1)))).toBe(-240)
    expect(sinceOf(40)).toBe(-40)
  })

  test('says nothing of its course, and begins with `Recovering` once nothing is beyond its threshold', () => {
    const said = (...lives: LiveAlert[]) => [incidentSentence(all(lives)[0]!), linesOf(all(lives)[0]!)[0]]
    const since = 'Since 2026-11-20 08:13:30 UTC'
    const fail = (share: string) => `${share} ringing calls failed in 15 minutes, mostly unanswered`
    const back = (target: string) => high(target, 40, 4, { state: 'recovering' })
    expect(said(high('a', 40, 30), high('b', 40, 30, { state: 'pending' }))).toEqual([`a: ${fail('75% of 40')}`, since])
    expect(said(high('a', 40, 30), back('b'), back('c'))).toEqual([`3 of 300 targets: ${fail('31.7% of 120')}`, since])
    expect(said(back('a'), back('b'))).toEqual([`Recovering: 2 of 300 targets: ${fail('10% of 80')}`, since])
    expect(said(high('a', 40, 10))).toEqual([`Recovering: a: ${fail('25% of 40')}`, since])
    expect(said(live('NoGoodPoll', 'a', { state: 'recovering', value: 0 }))[0]).toBe(
      'Recovering: a: polls succeed again',
    )
  })

  test('says on how many other targets it is pending', () => {
    const pending = (target: string) => high(target, 40, 30, { state: 'pending' })
    expect(linesOf(all([high('a', 40, 30), pending('b'), pending('c')])[0]!)).toContain('Pending on 2 more targets')
    expect(linesOf(all([high('a', 40, 30), pending('b')])[0]!)).toContain('Pending on 1 more target')
    expect(linesOf(all([high('a', 40, 30)])[0]!).join('\n')).not.toContain('Pending')
  })

  test('says on how many targets it fired in the message before, if that differs', () => {
    const [incident] = all([high('a', 40, 30), high('b', 40, 30)])
    const told = (targets: number) => linesOf({ ...incident!, told: targets }).filter((line) => line.includes('before'))
    expect(told(12)).toEqual(['On 12 targets in the message before'])
    expect(told(2)).toEqual([])
  })

  test('names as many targets as its numbers are of', () => {
    const lives = [high('a', 40, 30), live('StuckCalls', 'b'), live('StuckCalls', 'c')]
    const together = () => ({ key: '', labels: {} })
    const [incident] = incidentsOf(
      [...lives, live('VeryHighFailureRate', 'd', { counts: counts(40, { unanswered: 30 }) })],
      together,
      10,
    )
    expect(incidentSentence(incident!)).toBe(
      '2 of 10 targets, critical on 1: 75% of 80 ringing calls failed in 15 minutes, mostly unanswered',
    )
    expect(incident!.targets.firing).toBe(4)
  })

  test('names the outcome that two thirds of the failed calls have', () => {
    const outcomeOf = (unanswered: number, rejected: number) =>
      all([live('HighFailureRate', 'a', { counts: counts(90, { unanswered, rejected }) })])[0]!.calls?.outcome
    expect([outcomeOf(40, 20), outcomeOf(39, 21), outcomeOf(0, 0)]).toEqual(['unanswered', undefined, undefined])
  })

  test('names a rule alone where the sentence about the incident is the rule', () => {
    const rules = (...lives: LiveAlert[]) => linesOf(all(lives)[0]!).at(-1)
    expect(rules(live('NoCalls', 'a', { value: 0 }), live('NoCalls', 'b', { value: 0 }))).toMatch(
      /^Rule: NoCalls, no call .* in the last 1h, if there were at least 5 calls 7d before$/,
    )
    const alike = ['a', 'b'].map((target): LiveAlert => {
      const { instance, ...one } = live('NoCalls', target, { value: 0 })
      const { onlyIf: _, ...rule } = instance.rule
      return { ...one, instance: { ...instance, rule } }
    })
    expect(rules(...alike)).toBe('Rule: NoCalls')
    expect(rules(live('NoCalls', 'a', { value: 0.5 }))).toMatch(/^Rule: NoCalls, no call /)
  })

  test('on the only target does not count targets', () => {
    const evidence = { lastPoll: AT, cause: '503' }
    const alerts = [high('a', 40, 30), live('NoGoodPoll', 'a', { evidence }), live('StuckCalls', 'a')]
    expect(all(alerts, 1).flatMap(linesOf).join('\n')).not.toContain('target')
    expect(linesOf(all(alerts, 1).at(-1)!)).toContain('Also firing: HighFailureRate, NoGoodPoll')
    expect(linesOf(all(alerts, 2).at(-1)!)).toContain(
      'Also firing: HighFailureRate on 1 target, NoGoodPoll on 1 target',
    )
  })

  test('does not end while a less severe alert on the same calls fires, and is about that one, as severe as it', () => {
    const [incident] = all([
      high('a', 40, 16),
      live('VeryHighFailureRate', 'a', { counts: counts(40, { unanswered: 16 }), state: 'recovering' }),
    ])
    expect(incident).toMatchObject({ severity: 'warning', targets: { recovering: 0 } })
    expect(incident!.worst.map(({ alert }) => alert)).toEqual(['HighFailureRate'])
  })

  test('is as severe as what is beyond its threshold now, whatever only waits to resolve', () => {
    const critical = (target: string, unanswered: number, differing: Partial<AlertInstance> = {}) =>
      live('VeryHighFailureRate', target, { counts: counts(40, { unanswered }), ...differing })
    const severityOf = (...lives: LiveAlert[]) => all(lives)[0]!.severity
    expect(severityOf(high('a', 40, 16), critical('b', 19))).toBe('warning')
    expect(severityOf(high('a', 40, 16), critical('b', 21))).toBe('critical')
    expect(severityOf(high('a', 40, 10), critical('b', 19, { state: 'recovering' }))).toBe('warning')
    expect(severityOf(critical('b', 19, { state: 'recovering' }))).toBe('critical')
    const others = [critical('b', 19, { state: 'recovering' }), live('NoCalls', 'c', { state: 'recovering' })]
    expect(incidentsOf(others, () => ({ key: '', labels: {} }), 2)[0]!.severity).toBe('critical')
    expect(severityOf(high('a', 40, 16), critical('b', 0, { value: NaN }))).toBe('critical')
    const [incident] = incidentsOf([live('StuckCalls', 'a'), critical('b', 4)], () => ({ key: '', labels: {} }), 2)
    expect(incident!.alerts.map(({ alert }) => alert)).toEqual(['StuckCalls'])
  })

  test('that is an outage comes first, says since when, and the one below that its numbers are older', () => {
    const failing = (target: string, evaluatedAt = AT) =>
      live('VeryHighFailureRate', target, { counts: counts(40, { unanswered: 30 }), evaluatedAt })
    const unpolled = (target: string, lastPoll: number) => [
      failing(target, lastPoll),
      live('NoGoodPoll', target, { since: AT + 900, evidence: { lastPoll } }),
    ]
    const lives = [failing('c'), ...unpolled('a', AT - 60), ...unpolled('b', AT - 61.5)]
    const incidents = all(lives)
    expect(incidents.map(incidentSentence)).toEqual([
      '2 of 300 targets: no successful poll since 08:14:28 UTC',
      '3 of 300 targets: 75% of 40 ringing calls failed in 15 minutes, mostly unanswered',
    ])
    expect(linesOf(incidents[0]!)[0]).toMatch(/^Since 2026-11-20 08:14:28 UTC/)
    // A receiver was told of a target that can be read again.
    expect(incidentSentence({ ...incidents[0]!, since: AT - 9000 })).toBe(incidentSentence(incidents[0]!))
    // The first message may have been about one that failed a little earlier.
    expect(incidentSentence({ ...incidents[0]!, since: AT - 63 })).toMatch(/since 08:14:27 UTC$/)
    expect(incidents[1]!.held).toEqual([{ for: 'polls', targets: 2, since: AT - 60 }])
    expect(linesOf(incidents[1]!)).toContain('No successful poll on 2 targets since 08:14:30 UTC')
    // What is less severe comes later, also if it explains others.
    const explained = all([failing('a'), live('ServiceErrors', 'a'), high('b', 40, 30)])
    expect(explained.map(({ labels }) => labels.alert)).toEqual(['VeryHighFailureRate', 'ServiceErrors'])
    const lasting = ['a', 'b'].map((target) => high(target, 40, 30))
    const orderOf = (lives: LiveAlert[]) => all(lives).map(({ labels }) => labels.alert)
    expect(orderOf([...lasting, live('ServiceErrors', 'a')])).toEqual(['ServiceErrors', 'VeryHighFailureRate'])
    // It explains nothing on other targets, and the largest comes first.
    expect(orderOf([live('ServiceErrors', 'c'), ...lasting])).toEqual(['VeryHighFailureRate', 'ServiceErrors'])
    // Nor does it explain calls that have been open for hours.
    const stuck = ['a', 'b'].map((target) => live('StuckCalls', target))
    expect(orderOf([live('ServiceErrors', 'a'), ...stuck])).toEqual(['StuckCalls', 'ServiceErrors'])
  })

  test('says of values that are not of now why, and when that was', () => {
    const said = (...lives: LiveAlert[]) => incidentSentence(all(lives)[0]!)
    const seen = (target: string, ago: number) => high(target, 40, 30, { evaluatedAt: AT - ago })
    const value = '75% of 40 ringing calls failed in 15 minutes, mostly unanswered'
    expect(said(seen('a', 46), seen('b', 60))).toBe(
      `2 of 300 targets: no successful poll since 08:14:44 UTC; before that, ${value.replace('40', '80')}`,
    )
    // What was measured at several times is no number of any of them.
    expect(said(seen('a', 46), seen('b', 107))).toBe('2 of 300 targets: no successful poll since 08:14:44 UTC')
    expect(said(seen('a', 46), seen('b', 44))).toBe(`2 of 300 targets: ${value}`)
    expect(said(seen('a', 45))).toBe(`a: ${value}`)
    expect(said(seen('a', 86_445))).toBe(`a: no successful poll since 2026-11-19 08:14:45 UTC; before that, ${value}`)
    const few = (target: string, ago: number) => high(target, 40, 30, { measuredAt: AT - ago })
    expect(said(few('a', 540))).toBe(`a: fewer than 20 calls since 08:06:30 UTC; before that, ${value}`)
    expect(said(few('a', 540), high('b', 40, 30))).toBe(`2 of 300 targets: ${value}`)
  })

  test('has a line on the values that are not of now where others are', () => {
    const few = high('a', 40, 30, { measuredAt: AT - 540 })
    const lines = linesOf(all([few, high('b', 40, 30), high('c', 40, 30, { evaluatedAt: AT - 60 })])[0]!)
    expect(lines.slice(1, 3)).toEqual([
      'Too few calls for a value on 1 target since 08:06:30 UTC',
      'No successful poll on 1 target since 08:14:30 UTC',
    ])
    // Where none is of now, each has its time.
    const all2 = linesOf(all([few, high('b', 40, 20, { measuredAt: AT - 60 })])[0]!)
    expect(all2).toContain('Most failed calls: a 75% of 40 calls at 08:06:30 UTC, b 50% of 40 calls at 08:14:30 UTC')
    expect(all2.join()).not.toMatch(/Outcomes|value on/)
    expect(linesOf(all([few])[0]!)).toContain(
      'Outcomes at 08:06:30 UTC: unanswered 30, rejected 0, canceled 0, ended 10',
    )
  })

  test('says so of the numbers of its sentence alone, not of other alerts of a group of all', () => {
    const stuck = ['b', 'c', 'd'].map((target) => live('StuckCalls', target, { evaluatedAt: AT - 3600 }))
    const failing = live('VeryHighFailureRate', 'a', { counts: counts(40, { unanswered: 30 }), evaluatedAt: AT })
    const [incident] = incidentsOf([failing, ...stuck], () => ({ key: '', labels: {} }), 10, AT - 45)
    expect(incidentSentence(incident!)).toMatch(/^a: 75% of 40 ringing calls .* unanswered$/)
    const before = { ...failing, instance: { ...failing.instance, evaluatedAt: AT - 3600 } }
    const [old] = incidentsOf([before, ...stuck], () => ({ key: '', labels: {} }), 10, AT - 45)
    expect(incidentSentence(old!)).toMatch(/^a: no successful poll since 07:15:30 UTC; before that, 75% .* unanswered$/)
  })

  test('of failed requests explains why no poll succeeds, and not the other way round; the outage comes first', () => {
    const evidence = { cause: '503' }
    const incidents = all([live('ServiceErrors', 'a'), live('NoGoodPoll', 'a', { evidence })])
    expect(incidents.map((each) => [each.labels.alert, each.causes])).toEqual([
      [
        'NoGoodPoll',
        [
          { signal: 'poll_age', targets: 1, cause: '503' },
          { signal: 'request_errors', targets: 1 },
        ],
      ],
      ['ServiceErrors', [{ signal: 'request_errors', targets: 1 }]],
    ])
    expect(linesOf(incidents[1]!).join()).not.toContain('Cause')
  })

  test('of all rules together is about the most severe one, and names the others in numbers', () => {
    const together = () => ({ key: '', labels: {} })
    const lives = [high('a', 40, 30), live('StuckCalls', 'a'), live('StuckCalls', 'b'), live('NoGoodPoll', 'c')]
    const [incident]: Incident[] = incidentsOf(lives, together, 3)
    expect(incident).toMatchObject({ severity: 'critical', targets: { firing: 3 } })
    expect(incident!.alerts.map(({ alert }) => alert)).toEqual(['NoGoodPoll'])
    expect(incident!.others).toEqual([
      { alert: 'StuckCalls', targets: 2 },
      { alert: 'HighFailureRate', targets: 1 },
    ])
    const [warnings] = incidentsOf(lives.slice(0, 3), together, 3)
    expect(warnings!.alerts.map(({ alert }) => alert)).toEqual(['StuckCalls', 'StuckCalls'])
  })
})

test.each<[string, Signal, Signal, boolean]>([
  ['window, confidence and fewest calls', RATE, { ...RATE, window: 60, minCalls: 1, confidence: 0.9 }, true],
  ['reason', RATE, { ...RATE, reason: 'rejected' }, false],
  ['status', STUCK, { ...STUCK, status: 'initiated' }, false],
  ['length', STUCK, { ...STUCK, longerThan: 240 }, false],
  ['limit', BUDGET, { ...BUDGET, limit: 2 }, false],
  ['time zone', BUDGET, { ...BUDGET, timezone: 'Europe/Berlin' }, false],
  ['day of the cycle', BUDGET, { ...BUDGET, cycleDay: 2 }, false],
])('of two rules that differ in %s', (_what, one, other, isSame) => {
  const subjects = [one, other].map((signal) => subjectOf({ ...ruleOn(signal), labels: {} }))
  expect(subjects[0] === subjects[1]).toBe(isSame)
})

test.each<[Severity[], string[]]>([
  [
    ['warning', 'critical', 'info'],
    ['critical', 'warning', 'info'],
  ],
])('incidents are in the order of their severity: %j', (severities, order) => {
  const lives = severities.map((severity): LiveAlert => {
    const rule = ruleOn({ name: 'calls_finished', window: 900 }, { name: severity, severity })
    return { target: 'a', instance: { ...live('NoCalls', 'a').instance, key: severity, rule } }
  })
  expect(all(lives).map(({ severity }) => severity)).toEqual(order)
})
