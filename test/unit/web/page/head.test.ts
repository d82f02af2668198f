import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { AlertInstance } from '../../../../src/alerts/alert-instance.ts'
import type { Rule } from '../../../../src/alerts/rule.ts'
import type { TargetStatus } from '../../../../src/pipeline/target.ts'
import { Alerts } from '../../../../src/web/page/components/alerts/alerts.tsx'
import { Tiles } from '../../../../src/web/page/components/glance.tsx'
import { Head } from '../../../../src/web/page/components/head.tsx'
import { groupsOf, squares } from '../../../../src/web/page/components/alerts/squares.tsx'
import { shownIncidents } from '../../../../src/web/page/model/alerts/incidents.ts'
import type { State } from '../../../../src/web/page/model/state.ts'
import { matchOfAll } from '../../../../src/alerts/match-keys.ts'
import { POLL_AGE } from '../../../kit/alerts/sample-rules.ts'
import { finish, firing, NOW, openCall, POLLED, RATIO_RULE } from '../../../kit/metrics/hand-made-target.ts'
import { shownTarget } from '../../../kit/web/serve.ts'
import { amid, render, rowsOf, textOf } from './render-text.ts'

beforeEach(() => void vi.stubEnv('TZ', 'UTC'))
afterEach(() => void vi.unstubAllEnvs())

const CRITICAL: Rule = { ...RATIO_RULE, name: 'VeryHighFailureRate', severity: 'critical', threshold: 0.4 }

const alertOf = (failed: number, total: number) => ({
  ...firing(CRITICAL),
  value: failed / total,
  calls: total,
  counts: { ended: total - failed, unanswered: failed, rejected: 0, canceled: 0, other: 0, total },
})
const several = (count: number) =>
  Array.from({ length: count }, (_, i) =>
    shownTarget({ target: `t${i}`, rules: [CRITICAL], alerts: [alertOf(30 - i, 40)], sync: POLLED }),
  )
const finished = (failed: number, total: number) =>
  Array.from({ length: total }, (_, i) => finish(i < failed ? 'rejected' : 'ended'))
const linksOf = (state: State) =>
  render(Head, state).flatMap(({ type, props, text }) => (type === 'a' && text !== '' ? [[text, props['href']]] : []))
const linesOf = (state: State) =>
  render(Head, state).flatMap(({ type, text }) => (type === 'li' && text !== '' ? [text] : []))

describe('the squares of a fleet', () => {
  const fleet = (failing: readonly string[], names: readonly string[]) =>
    amid(
      names.map((target) => {
        const alerts = failing.includes(target) ? [alertOf(target === failing[0] ? 40 : 20, 40)] : []
        return shownTarget({ target, rules: [CRITICAL], alerts, sync: POLLED })
      }),
    )
  const squaresOf = (state: State) =>
    render(Head, state).flatMap(({ type, props }) => (type === 'a' && props['data-text'] ? [props] : []))

  test('are one for each target, the worst darkest, each with its name and value, and one stop of the keyboard', () => {
    const names = Array.from({ length: 12 }, (_, i) => `t${i}`)
    const squares = squaresOf(fleet(['t3', 't5'], names))
    expect(squares.map((one) => one['aria-label'])).toEqual(
      names.map((name) =>
        name === 't3'
          ? 't3: VeryHighFailureRate 100%, critical'
          : name === 't5'
            ? 't5: VeryHighFailureRate 50%, critical'
            : `${name}: no alert`,
      ),
    )
    expect([squares[3]?.['class'], squares[5]?.['class'], squares[0]?.['class']]).toEqual([
      'bad shade4',
      'bad shade2',
      '',
    ])
    expect(squares.filter((one) => one['tabindex'] === 0)).toHaveLength(1)
    expect(String(squares[3]?.['href'])).toMatch(/target=t3&alert=VeryHighFailureRate.*#alert$/)
  })

  test('are of this incident alone; below a threshold the least is darkest', () => {
    const names = Array.from({ length: 12 }, (_, i) => `t${i}`)
    const few: Rule = { ...CRITICAL, name: 'FewCalls', breach: 'below', threshold: 10 }
    const state = amid(
      names.map((target, i) => {
        const alerts = i === 0 ? [{ ...firing(few), value: 9 }] : i < 3 ? [{ ...firing(few), value: 1 }] : []
        const other = i === 0 ? [{ ...firing({ ...CRITICAL, name: 'Other' }), value: 600 }] : []
        return shownTarget({ target, rules: [few], alerts: [...alerts, ...other], sync: POLLED })
      }),
    )
    const squares = squaresOf(state).slice(0, 3)
    expect(squares.map((one) => one['class'])).toEqual(['bad shade1', 'bad shade4', 'bad shade4'])
    expect(squares[0]?.['aria-label']).toMatch(/^t0: FewCalls /)
  })

  test('are the same elements until one says something else', () => {
    const names = Array.from({ length: 12 }, (_, i) => `t${i}`)
    const state = fleet(['t3', 't5'], names)
    const drawn = () => shownIncidents(state).map((shown) => squares(state, shown))[0]
    const first = drawn()
    expect(first).not.toBe(false)
    expect(drawn()).toBe(first)
    state.snapshot!.alerts.find(({ target }) => target === 't5')!.value = 0.51
    expect(drawn()).not.toBe(first)
    expect(squaresOf(state)[5]?.['aria-label']).toBe('t5: VeryHighFailureRate 51%, critical')
  })

  test('say which targets are critical or silenced, and have marks with a legend where others are not', () => {
    const both = [firing(), { ...firing(CRITICAL), key: CRITICAL.name }]
    const targets = Array.from({ length: 12 }, (_, i) =>
      shownTarget({ target: `t${i}`, alerts: i === 0 ? both : i < 3 ? [firing()] : [], sync: POLLED }),
    )
    const state = amid(targets, {}, () => ({ key: '', labels: {} }))
    state.snapshot!.alerts.find(({ target }) => target === 't1')!.suppressed = [{ by: 'mute' }]
    const looks = () => squaresOf(state).map((one) => [one['aria-label'], one['class']])
    const legend = () => textOf(render(Head, state), { class: 'marks' })
    expect(looks().slice(0, 4)).toEqual([
      ['t0: VeryHighFailureRate 42.5%, critical', 'bad shade4 framed'],
      ['t1: HighFailureRate 42.5%, warning, muted', 'bad shade4 round'],
      ['t2: HighFailureRate 42.5%, warning', 'bad shade4'],
      ['t3: no alert', ''],
    ])
    expect(legend()).toBe('critical nobody is notified')
    const { alerts } = state.snapshot!
    state.snapshot!.alerts = alerts.map((one) => ({ ...one, severity: 'critical', suppressed: [{ by: 'mute' }] }))
    expect(looks()[2]).toEqual(['t2: HighFailureRate 42.5%, critical, muted', 'bad shade4'])
    expect(legend()).toBeUndefined()
  })

  test('are absent of a few targets, which a list tells apart', () => {
    expect(
      squaresOf(
        fleet(
          ['t3', 't5'],
          Array.from({ length: 11 }, (_, i) => `t${i}`),
        ),
      ),
    ).toEqual([])
  })

  test('are by the part of the names that the failing ones share, the largest groups first', () => {
    const names = ['a-eu-1', 'b-us-1', 'c-us-1', 'd-eu-1', 'e-eu-2', 'f-in-1', 'plain']
    expect(groupsOf(names, '*-eu-*')).toEqual([
      ['eu', ['a-eu-1', 'd-eu-1', 'e-eu-2']],
      ['us', ['b-us-1', 'c-us-1']],
      ['in', ['f-in-1']],
      ['others', ['plain']],
    ])
    expect(groupsOf(names, '')).toEqual([['', names]])
    const many = Array.from({ length: 20 }, (_, i) => `x-${i}`)
    expect(groupsOf(many, 'x-*')).toEqual([['x', many]])
    expect(groupsOf(many, '*-3').map(([name, of]) => [name, of.length])).toEqual([
      ['3', 1],
      ...['0', '1', '2', '4', '5', '6', '7'].map((name) => [name, 1]),
      ['others', 12],
    ])
  })
})

describe('the head of the overview', () => {
  test('says what is wrong on how many targets, and lists the ten worst with most failed calls first', () => {
    const state = amid([...several(12), shownTarget({ target: 'good', sync: POLLED })])
    const elements = render(Head, state)
    expect(elements.find(({ type }) => type === 'h2')?.text).toBe(state.snapshot!.incidents.at(0)!.summary)
    expect(elements.find(({ type }) => type === 'h2')?.text).toMatch(
      /^12 of 13 targets: 61.3% of 480 calls failed in 15 minutes, mostly unanswered$/,
    )
    expect(elements.find(({ type }) => type === 'h3')?.text).toBe('Most failed calls')
    expect(elements.find(({ type }) => type === 'p')?.text).toMatch(
      /^critical Since 14:10:20 UTC · Outcomes: unanswered 294, rejected 0, canceled 0, ended 186 · Rule: Very/,
    )
    expect(linesOf(state).length).toBe(10)
    expect(linesOf(state)[0]).toBe('t0 75% 30 of 40')
    expect(elements.find(({ type, props }) => type === 'rect' && props['class'] === 'fill')?.props['width']).toBe(75)
    expect(linksOf(state).slice(-2)).toEqual([
      ['All 12 targets', './?incident=alert%3DVeryHighFailureRate#alerts'],
      ['The page of this incident', expect.stringMatching(/^\.\/\?alert=VeryHighFailureRate&since=.*#incident$/)],
    ])
    // The list says which ones are the worst.
    expect(elements.find(({ type }) => type === 'p')?.text).not.toContain('Most failed calls:')
  })

  test('leads to the alert, to a silence of all of it, and to its calls of all targets', () => {
    const state = amid(several(2))
    for (const alert of state.snapshot!.alerts)
      alert.calls_url = `/api/v1/calls?target=${alert.target}&mode=call&status=unanswered%2Crejected&since=A&until=B`
    expect(linksOf(state).map((link) => link.join(' '))).toEqual([
      'Failed calls ./?mode=call&status=unanswered%2Crejected&since=A&until=B#calls',
      'Silence ./?alert=VeryHighFailureRate#silences',
      'Runbook runbooks/VeryHighFailureRate',
      expect.stringMatching(/^t0 75% 30 of 40 \.\/\?target=t0&alert=VeryHighFailureRate&since=.*#alert$/),
      expect.stringMatching(/^t1 /),
      'All 2 targets ./?incident=alert%3DVeryHighFailureRate#alerts',
      expect.stringMatching(/^The page of this incident /),
    ])
    // Of a rule on all finished calls, such as one that none has finished.
    for (const alert of state.snapshot!.alerts) alert.calls_url = '/api/v1/calls?status=ended%2Cunanswered%2Crejected'
    expect(linksOf(state)[0]?.[0]).toBe('Its calls')
  })

  test('leads to exactly the alerts of an incident, also those of a rule that escalates', () => {
    const warning: Rule = { ...CRITICAL, name: 'HighFailureRate', severity: 'warning', threshold: 0.2 }
    const other: Rule = { ...CRITICAL, name: 'NotVeryHighFailureRate', match: { type: 'video' } }
    const rules = [warning, other, CRITICAL]
    const made = (target: string, ...firingNow: Rule[]) =>
      shownTarget({ target, rules, alerts: firingNow.map((rule) => firing(rule)), sync: POLLED })
    const targets = [made('both', warning, CRITICAL), made('mild', warning), made('other', other)]
    // The rule that escalates is notified with the more severe one.
    const labelsOf = ({ alert }: { alert: string }) => ({ alert: alert === warning.name ? CRITICAL.name : alert })
    const state = amid(targets, {}, (alert) => ({ key: labelsOf(alert).alert, labels: labelsOf(alert) }))
    const shown = (address: unknown) => {
      const query = new URLSearchParams(String(address).replace(/#.*/, '').slice(2))
      return rowsOf(render(Alerts, { ...state, query })).slice(1).map((text) => text.replace(/ firing.*/, '')) // oxfmt-ignore
    }
    const [, all] = linksOf(state).find(([text]) => text === 'All 2 targets')!
    expect(shown(all)).toEqual(['both VeryHighFailureRate and HighFailureRate 2', 'mild HighFailureRate'])
    expect(shown('./?alert=HighFailureRate#alerts')).toEqual(['both', 'mild'])
    expect(shown('./?incident=alert%3DGone#alerts')).toEqual([])
  })

  test('leads to its targets, those with most failed calls first, a silenced one last', () => {
    const made = [20, 24, 30, 22].map((failed, i) =>
      shownTarget({ target: `t${i}`, rules: [CRITICAL], alerts: [alertOf(failed, i === 2 ? 30 : 60)], sync: POLLED }),
    )
    const state = amid([...made, shownTarget({ target: 't4', alerts: [alertOf(60, 60)], sync: POLLED })])
    state.snapshot!.alerts.at(-1)!.suppressed = [{ by: 'mute' }]
    const query = new URLSearchParams({ incident: 'alert=VeryHighFailureRate' })
    const elements = render(Alerts, { ...state, query })
    expect(rowsOf(elements).slice(1).map((row) => row.split(' ')[0])).toEqual(['t2', 't1', 't3', 't0', 't4']) // oxfmt-ignore
    expect(textOf(elements, { id: 'alerts-title' })).toBe('5 targets')
  })

  test('of a single target is a link to the alert, with its own calls', () => {
    const state = amid(several(1))
    state.snapshot!.alerts.at(0)!.calls_url = '/api/v1/calls?target=t0&mode=call'
    expect(linksOf(state).map(([text]) => text)).toEqual([
      't0: 75% of 40 calls failed in 15 minutes, mostly unanswered',
      'Its calls',
      'Silence',
      'Runbook',
    ])
    expect(linksOf(state).at(1)!.at(1)).toBe('./?target=t0&status=in_progress&mode=call#calls')
    expect(linesOf(state)).toEqual([])
    // Within its threshold again, it is none of the worst.
    const [link] = linksOf(state)
    state.snapshot!.incidents.at(0)!.worst = []
    expect(linksOf(state).at(0)).toEqual(link)
    expect(linksOf(state)).toHaveLength(4)
  })

  test('says that a part or all of it is silenced, and is not coloured then, nor while nothing is beyond its threshold', () => {
    const state = amid(several(2))
    const silence = { id: 1, match: {}, since: '', until: '2026-09-21T16:00:00Z', author: 'ops', reason: '', edits: 0 }
    const classOf = () => render(Head, state).find(({ type }) => type === 'article')?.props['class']
    state.snapshot!.silences = [silence]
    const suppressed = [{ by: 'silence', silence: 1, until: silence.until }] as const
    state.snapshot!.alerts.at(0)!.suppressed = [...suppressed]
    expect(classOf()).toBe('card incident critical')
    const waits = () => render(Head, state).find(({ type }) => type === 'strong')?.text
    expect(waits()).toBe('1 target silenced until 16:00 by ops')
    const beyond = state.snapshot!.alerts
    state.snapshot!.alerts = beyond.map((one) => ({ ...one, value: one.threshold }))
    expect(classOf()).toBe('card incident ')
    expect(textOf(render(Head, state), { class: 'badge ' })).toBe('critical')
    state.snapshot!.alerts = beyond
    state.snapshot!.alerts.at(1)!.suppressed = [...suppressed]
    expect(classOf()).toBe('card incident ')
    expect(waits()).toBe('silenced until 16:00 by ops')
  })

  test('says on how many targets all of it is silenced, where an alert of another rule inhibits what is', () => {
    const high = shownTarget({
      target: 'a',
      alerts: [firing(), { ...firing(CRITICAL), key: CRITICAL.name }],
      sync: POLLED,
    })
    const others = ['b', 'c'].map((target) => shownTarget({ target, alerts: [firing()], sync: POLLED }))
    const state = amid([high, ...others], {}, () => ({ key: '', labels: {} }))
    for (const one of state.snapshot!.alerts) {
      if (one.alert !== CRITICAL.name) one.suppressed = [{ by: 'silence' }]
      if (one.alert !== CRITICAL.name && one.target === 'a')
        one.suppressed!.push({ by: 'inhibition', alert: CRITICAL.name })
    }
    expect(render(Head, state).find(({ type }) => type === 'strong')?.text).toBe('2 targets silenced')
    // The tile counts alerts.
    expect(render(Tiles, state).map(({ text }) => text)).toContain('Alerts firing 4 3 silenced')
  })

  test('is inhibited only if all of it is, and never by an alert of its own', () => {
    const alerts = [firing(), { ...firing(CRITICAL), key: CRITICAL.name, state: 'recovering' as const }]
    const state = amid([shownTarget({ alerts, sync: POLLED })], {}, () => ({ key: '', labels: {} }))
    const [less, worse] = [state.snapshot!.alerts.at(0)!, state.snapshot!.alerts.at(1)!]
    const badgeOf = () => render(Head, state).find(({ type }) => type === 'strong')?.text
    less.suppressed = [{ by: 'inhibition', alert: CRITICAL.name }]
    expect(badgeOf()).toBeUndefined()
    worse.suppressed = [{ by: 'inhibition', alert: 'Outage', target: 'other' }]
    expect(badgeOf()).toBe('inhibited by Outage on other')
  })

  test('has the incidents of the selected target, three of several ones', () => {
    const rules = ['A', 'B', 'C', 'D', 'E'].map((name): Rule => ({ ...CRITICAL, name }))
    const state = amid([
      ...rules.map((rule) => shownTarget({ target: rule.name, rules: [rule], alerts: [firing(rule)], sync: POLLED })),
      shownTarget({ sync: POLLED }),
    ])
    const titles = (of: State) =>
      render(Head, of).flatMap(({ type, text }) => (type === 'h2' ? [text.slice(0, 2)] : []))
    expect(titles(state)).toEqual(['A:', 'B:', 'C:'])
    expect(render(Head, state).at(-1)?.text).toBe('2 more incidents: all alerts')
    expect(titles({ ...state, target: 'D' })).toEqual(['D:'])
    expect(titles({ ...state, target: 'production' })).toEqual([])
  })

  test('silences all rules of an incident, as its messages do', () => {
    const both = (target: string) =>
      shownTarget({
        target,
        rules: [CRITICAL, RATIO_RULE],
        alerts: [alertOf(30, 40), firing(RATIO_RULE)],
        sync: POLLED,
      })
    const state = amid([both('a'), both('b')])
    const { snapshot } = state
    snapshot!.alerts = snapshot!.alerts.map((alert) => ({ ...alert, group: {} }))
    snapshot!.incidents = snapshot!.incidents.slice(0, 1).map((incident) => ({ ...incident, group: {} }))
    const links = linksOf(state)
    const address = new URLSearchParams({ alert: '=~VeryHighFailureRate|HighFailureRate' })
    expect(links).toContainEqual(['Silence', `./?${address}#silences`])
    const fires = ['Überlast (1)', 'b'].map((alert) => ({ alert, target: alert, labels: {} }))
    expect(matchOfAll({}, fires)).toEqual({ alert: String.raw`=~Überlast \(1\)|b` })
  })

  test('says how it is on the selected target, and on how many others', () => {
    const mild: Rule = { ...CRITICAL, name: 'HighFailureRate', severity: 'warning', threshold: 0.2 }
    const also = (one: TargetStatus, i: number) =>
      shownTarget({
        target: one.name,
        rules: [CRITICAL, mild],
        alerts: [alertOf(30 - i, 40), { ...firing(mild), since: NOW - 240 }],
        sync: POLLED,
      })
    const state = amid(several(3).map(also), { target: 't1' }, () => ({ key: '', labels: {} }))
    expect(linksOf(state).map((link) => link.join(' '))).toEqual([
      expect.stringMatching(
        /^t1: 72.5% of 40 calls failed in 15 minutes, mostly unanswered \.\/\?target=t1&alert=VeryHighFailureRate&/,
      ),
      'Silence ./?target=t1&alert=%3D%7EVeryHighFailureRate%7CHighFailureRate#silences',
      'Runbook runbooks/VeryHighFailureRate',
      'Also on 2 other targets ./#alerts',
    ])
    expect(linesOf(state)).toEqual([])
    const about = () => render(Head, state).find(({ type }) => type === 'p')?.text
    expect(about()).toMatch(/^critical Since 14:09:20 UTC · Rule: VeryHighFailureRate, more than 40%/)
    for (const alert of state.snapshot!.alerts) {
      alert.state = 'recovering'
      alert.summary = `Recovering: ${alert.summary}`
    }
    expect(linksOf(state).at(0)?.at(0)).toBe(
      'Recovering: t1: 72.5% of 40 calls failed in 15 minutes, mostly unanswered',
    )
    expect(about()).toMatch(/^critical Since 14:09:20 UTC ·/)
    // Of alerts with labels it is about the one with most failed calls, and of what the incident says of others only the rule is true here.
    const byType = (one: TargetStatus) =>
      shownTarget({
        target: one.name,
        rules: [{ ...CRITICAL, by: ['type'] }],
        alerts: ['audio', 'video'].map((type, i) => ({ ...alertOf(18 + 10 * i, 40), key: type, labels: { type } })),
        sync: POLLED,
      })
    const labelled = amid(several(2).map(byType), { target: 't1' }, () => ({ key: '', labels: {} }))
    const ofAll = { about: 'messages', text: 'Last message: slack 14:12' } as const
    labelled.snapshot!.incidents.at(0)!.details.push({ about: 'cause', text: 'Cause: 503' }, ofAll)
    expect(render(Head, labelled).find(({ type }) => type === 'h2')?.text).toMatch(/^t1: 70% of 40 video calls/)
    expect(linesOf(labelled)).toHaveLength(2)
    expect(render(Head, labelled).some(({ text }) => /Cause|Last message/.test(text))).toBe(false)
    // Where all alerts are one group, that of the target may be about something else.
    const stuck: Rule = { ...CRITICAL, name: 'StuckCalls', signal: { name: 'stuck_calls', longerThan: 10_800 } }
    const other = shownTarget({ target: 'c', rules: [stuck], alerts: [{ ...firing(stuck), value: 40 }], sync: POLLED })
    const mixed = amid([...several(2), other], { target: 'c' }, () => ({ key: '', labels: {} }))
    expect(linksOf(mixed).at(0)?.at(0)).toMatch(/^c: 40 calls have been open/)
    expect(render(Head, mixed).some(({ type }) => type === 'svg')).toBe(false)
  })

  test('is one for an outage, which began with the last successful poll, and silences the failed requests, too', () => {
    const errors: Rule = { ...POLL_AGE, name: 'ServiceErrors', signal: { name: 'request_errors', window: 180, minRequests: 10 }, threshold: 0.2 } // oxfmt-ignore
    const made = (target: string, ...polls: AlertInstance[]) =>
      shownTarget({
        target,
        rules: [POLL_AGE, errors, CRITICAL],
        alerts: [...polls, firing(errors), alertOf(30, 40)],
        sync: { ...POLLED, lastSuccessHostTime: NOW - 400 },
        pollAge: 400,
      })
    const none = { calls: undefined, counts: undefined }
    const outage = { ...firing(POLL_AGE), ...none, value: 400, evidence: { lastPoll: NOW - 400 } }
    const titles = (state: State) => render(Head, state).flatMap(({ type, text }) => (type === 'h2' ? [text] : []))
    const all = amid([made('a', outage), made('b', outage)])
    expect(titles(all)).toEqual([
      '2 of 2 targets: no successful poll since 14:06:40 UTC',
      '2 of 2 targets: 75% of 80 calls failed in 15 minutes, mostly unanswered',
    ])
    expect(linksOf(all)[0]).toEqual(['Silence', './?alert=%3D%7ENoGoodPoll%7CServiceErrors#silences'])
    expect(titles({ ...all, target: 'a' })[0]).toBe('a: no successful poll since 14:06:40 UTC')
    expect(
      linksOf({ ...all, target: 'a' })
        .at(1)
        ?.at(1),
    ).toBe('./?target=a&alert=%3D%7ENoGoodPoll%7CServiceErrors#silences')
    // Most targets are polled.
    expect(titles(amid([made('a', outage), made('b')]))).toHaveLength(3)
    expect(titles(amid([made('a', outage), made('b'), made('c', outage)]))).toHaveLength(2)
  })

  test('of open calls says once how many they are on each target', () => {
    const state = amid(several(2))
    Object.assign(state.snapshot!.incidents.at(0)!.worst.at(0)!, { value: 7, calls: 7, failed: null })
    const [row] = render(Head, state).filter(({ type }) => type === 'li')
    expect(row?.text.match(/7/g)).toHaveLength(1)
  })

  test('has the calls of its targets by the minute', () => {
    const state = amid(several(2))
    const none = [0, 0]
    const counts = (name: string) => ({ name, ended: [9, 1], unanswered: [1, 3], rejected: none, canceled: none, other: none }) // oxfmt-ignore
    state.snapshot!.perMinute.targets = ['t0', 't1', 'else'].map(counts)
    const paths = () => render(Head, state).flatMap(({ type, props }) => (type === 'path' ? [props['d']] : []))
    expect(paths()).toEqual(['M0.5 20v-20.00M1.5 20v-8.00', 'M0.5 20v-2.00M1.5 20v-6.00'])
  })

  test('of targets that fail alike has a line for each reason, which leads to its targets', () => {
    const [slow, refused] = ['no answer in 5 s', 'the service answered 503']
    const failing = (problems: readonly (string | undefined)[]) =>
      amid(
        problems.map((problem, i) =>
          shownTarget({
            target: `t${i}`,
            rules: [POLL_AGE],
            alerts: [{ ...firing(POLL_AGE), value: 400 + i, calls: undefined, counts: undefined }],
            sync: POLLED,
            pollAge: 400,
            ...(problem !== undefined && { problem }),
          }),
        ),
      )
    const state = failing([slow, refused, refused, refused])
    state.snapshot!.incidents.at(0)!.details.push({ about: 'cause', text: 'Cause: the service answered 503' })
    const elements = render(Head, state)
    expect(elements.find(({ type }) => type === 'h3')?.text).toBe('Targets by reason')
    expect(linesOf(state)).toEqual(['The service answered 503 3 of 4', 'No answer in 5 s 1 of 4'])
    expect(elements.some(({ text }) => text.includes('Cause'))).toBe(false)
    const [, address] = linksOf(state).find(([text]) => String(text).startsWith('The service'))!
    const query = new URLSearchParams(String(address).replace(/#.*/, '').slice(2))
    const listed = render(Alerts, { ...state, query })
    expect(textOf(listed, { id: 'alerts-title' })).toBe('3 targets: the service answered 503')
    expect(rowsOf(listed).slice(1).map((row) => row.split(' ')[0])).toEqual(['t3', 't2', 't1']) // oxfmt-ignore
    expect(linesOf(failing([undefined, 'wait 30 s', 'wait 31 s', 'wait 32 s']))).toEqual([
      expect.stringMatching(/^Wait 3\d s 3 of 4$/),
      'The reason is not known 1 of 4',
    ])
    // Few are named, and of many without a reason the first ones.
    expect(linesOf(failing([slow, refused, refused]))).toHaveLength(3)
    expect(linesOf(failing([undefined, undefined, undefined, undefined])).map((line) => line.split(' ')[0])).toEqual([
      't3',
      't2',
      't1',
    ])
  })

  test('has a bar for each share, and of other values where they are not alike', () => {
    const state = amid(several(4))
    const bars = (of = state) => render(Head, of).filter(({ props }) => props['class'] === 'bar').length
    expect(bars()).toBe(4)
    for (const [i, one] of state.snapshot!.incidents.at(0)!.worst.entries()) one.value = 0.7 + i / 100
    expect(bars()).toBe(4)
    const polls = (ages: readonly number[]) =>
      amid(
        ages.map((value, i) =>
          shownTarget({ target: `t${i}`, alerts: [{ ...firing(POLL_AGE), value }], sync: POLLED }),
        ),
      )
    expect([polls([600, 610, 620]), polls([600, 900, 1200])].map((of) => bars(of))).toEqual([0, 3])
    expect(linesOf(state)).toHaveLength(4)
    // Why polls fail is no reason of anything else.
    for (const target of state.snapshot!.targets) target.problem = 'the service answered 503'
    for (const one of state.snapshot!.incidents.at(0)!.worst) one.failed = null
    expect(render(Head, state).find(({ type }) => type === 'h3')?.text).toBe('Worst')
  })

  test('keeps the order of its lines while the reader points at them', () => {
    const state = amid(several(3))
    expect(linesOf(state).map((line) => line.slice(0, 2))).toEqual(['t0', 't1', 't2'])
    const worst = state.snapshot!.incidents.at(0)!.worst.toReversed()
    state.snapshot!.incidents.at(0)!.worst = [{ ...worst[0]!, target: 'new' }, ...worst]
    const order = (isHeld: boolean) => linesOf({ ...state, isHeld }).map((line) => line.split(' ')[0])
    expect(order(true)).toEqual(['t0', 't1', 't2', 'new'])
    expect(order(false)).toEqual(['new', 't2', 't1', 't0'])
  })

  test('keeps the order of its lines for half a minute', () => {
    const state = amid(several(12))
    const incident = state.snapshot!.incidents.at(0)!
    const order = (now: number) => linesOf({ ...state, now }).map((line) => line.split(' ')[0])
    const before = order(100_000)
    // The fourth is no longer one of the ten worst.
    const worst = incident.worst
      .toSpliced(3, 1)
      .toReversed()
      .toSpliced(2, 0, { ...incident.worst.at(0)!, target: 't10' })
    incident.worst = worst
    // The new one is the third, and stays there.
    expect(order(129_000)).toEqual(before.toSpliced(3, 1).toSpliced(2, 0, 't10'))
    incident.worst = worst.toReversed()
    expect(order(129_999)).toEqual(before.toSpliced(3, 1).toSpliced(2, 0, 't10'))
    incident.worst = worst
    expect(order(130_000)).toEqual(worst.map(({ target }) => target))
  })

  test.each<[string, TargetStatus[]]>([
    [
      'No alert fires. production is polled; 25% of 20 calls failed in 15m.',
      [shownTarget({ finished: finished(5, 20), sync: POLLED })],
    ],
    [
      'No alert fires. production is polled; 25% of 20 calls failed in 15m (threshold of HighFailureRate: 30%).',
      [shownTarget({ rules: [RATIO_RULE], finished: finished(5, 20), sync: POLLED })],
    ],
    [
      'No alert fires. All 3 targets are polled; 22.2% of 45 calls failed in 15m, highest: b, 25% of 20 calls (threshold of HighFailureRate: 30%).',
      [
        shownTarget({ rules: [RATIO_RULE], finished: finished(2, 20), sync: POLLED }),
        shownTarget({ target: 'b', rules: [RATIO_RULE], finished: finished(5, 20), sync: POLLED }),
        // Too few for the rule.
        shownTarget({ target: 'c', rules: [RATIO_RULE], finished: finished(3, 5), sync: POLLED }),
      ],
    ],
    [
      'No alert fires. All 2 targets are polled; 0 finished calls in 15m.',
      [shownTarget({ sync: POLLED, calls: [openCall('a')] }), shownTarget({ target: 'b', sync: POLLED })],
    ],
    [
      'No alert fires. No calls yet. callwatch has polled 2 targets for 1h.',
      [shownTarget({ sync: POLLED }), shownTarget({ target: 'b', sync: POLLED })],
    ],
    [
      'No alert fires, 1 alert pending.',
      [
        shownTarget({ rules: [CRITICAL], alerts: [{ ...firing(CRITICAL), state: 'pending' }], sync: POLLED }),
        shownTarget({ target: 'b', sync: POLLED, pollAge: 400 }),
      ],
    ],
    ['No alert fires.', [shownTarget({ sync: POLLED, problem: 'no answer' })]],
    ['Nothing is known yet.', [shownTarget({ sync: {}, problem: 'no answer' })]],
  ])('says in a line that nothing is wrong: %s', (line, targets) => {
    expect(textOf(render(Head, amid(targets)), { class: 'calm' })).toBe(line)
  })
})
