import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { isoTime } from '../../../../src/clock/times.ts'
import { IncidentPage } from '../../../../src/web/page/components/alerts/incident.tsx'
import type { PastAlert } from '../../../../src/web/page/model/api.ts'
import {
  countsOver,
  loadIncident,
  mostAtOnce,
  postmortem,
  refreshIncident,
  suppressionsOf,
  titleOf,
  messagesOf,
} from '../../../../src/web/page/model/alerts/incident-page.ts'
import { change, current, initialState } from '../../../../src/web/page/model/state.ts'
import { firing, NOW, RATIO_RULE } from '../../../kit/metrics/hand-made-target.ts'
import { shownTarget } from '../../../kit/web/serve.ts'
import { amid, render, rowsOf, stateOf, textOf, withoutBrowser } from './render-text.ts'

beforeEach(() => void vi.stubEnv('TZ', 'UTC'))
afterEach(() => void vi.unstubAllEnvs())

const at = (minutes: number) => isoTime(NOW - 3600 + minutes * 60)
const notice = (receiver: string, kind: 'firing' | 'resolved', minutes: number) => ({ receiver, kind, at: at(minutes) })
const past = (target: string, since: number, until: number | null, more: Partial<PastAlert> = {}) =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the page reads
  ({
    alert: 'HighFailureRate',
    target,
    labels: {},
    match: {},
    severity: 'warning',
    signal: 'failure_ratio',
    breach: 'above',
    threshold: 0.3,
    peak: 0.5,
    since: at(since),
    until: until === null ? null : at(until),
    outcome: until === null ? null : 'resolved',
    notified: [notice('slack', 'firing', 1)],
    refused: [],
    suppressed: [],
    blind: [],
    ...more,
  }) as unknown as PastAlert

const ALL = [
  past('a', 0, 20, { notified: [notice('slack', 'firing', 1), notice('slack', 'resolved', 30)] }),
  past('b', 0, 30, { peak: 0.75, notified: [notice('slack', 'firing', 1), notice('slack', 'resolved', 30)] }),
  past('c', 10, 30, { notified: [], suppressed: [{ by: 'silence', at: at(10), until: at(40), reason: 'known' }] }),
]
const shown = (all: readonly PastAlert[]) =>
  stateOf([shownTarget()], {
    view: 'incident',
    incidentPage: { ...initialState.incidentPage, answer: { alerts: all, isCut: false } },
  })

describe('the page of an incident', () => {
  test('says on how many targets it was, from when to when, how bad, and how many alerts fired at the same time', () => {
    const elements = render(IncidentPage, shown(ALL))
    expect(textOf(elements, { id: 'incident-facts-title' })).toBe('HighFailureRate on 3 targets')
    expect(elements.find(({ type }) => type === 'p')?.text).toBe(
      'Fired from 2026-09-21 13:13:20 UTC to 2026-09-21 13:43:20 UTC, 30m. Worst: 75% on b, threshold above 30%. At most 3 alerts at the same time.',
    )
    expect(countsOver(ALL, NOW * 1000, 3).map(({ alerts }) => alerts)).toEqual([2, 3, 2])
  })

  test('has each message once with the alerts it was about, what suppressed others, and each alert', () => {
    const elements = render(IncidentPage, shown(ALL))
    const rows = rowsOf(elements)
    expect(rows.slice(1, 3)).toEqual(['13:14:20 slack firing 2', '13:43:20 slack resolved 2'])
    expect(elements.find(({ type }) => type === 'li')?.text).toBe('silenced until 13:53: known (1 alert)')
    expect(rows.filter((row) => row.startsWith('HighFailureRate'))).toHaveLength(3)
    expect(messagesOf(ALL).map(({ alerts }) => alerts)).toEqual([2, 2])
  })

  test('has a text for a postmortem once it is over', () => {
    const state = shown(ALL)
    const text = postmortem(state, ALL)
    expect(textOf(render(IncidentPage, state), { id: 'postmortem-title' })).toBe('For a postmortem')
    expect(text.split('\n')).toEqual([
      '## HighFailureRate on 3 targets',
      '',
      '- Fired from 2026-09-21 13:13:20 UTC to 2026-09-21 13:43:20 UTC, 30m.',
      '- Worst: 75% on b, threshold above 30%.',
      '- At most 3 alerts at the same time.',
      '- Severity: warning',
      '',
      '### Notified',
      '',
      '- 2026-09-21 13:14:20 UTC: slack, firing, 2 alerts',
      '- 2026-09-21 13:43:20 UTC: slack, resolved, 2 alerts',
      '',
      '### Suppressed',
      '',
      '- silenced until 13:53: known (1 alert)',
      '',
      '| Alert | From | Until | Peak | Outcome |',
      '| --- | --- | --- | --- | --- |',
      '| HighFailureRate, b | 2026-09-21 13:13:20 UTC | 2026-09-21 13:43:20 UTC | 75% | resolved |',
      '| HighFailureRate, a | 2026-09-21 13:13:20 UTC | 2026-09-21 13:33:20 UTC | 50% | resolved |',
      '| HighFailureRate, c | 2026-09-21 13:23:20 UTC | 2026-09-21 13:43:20 UTC | 50% | resolved |',
      '',
    ])
    expect(postmortem(state, [past('a|b', 0, 20)])).toContain(String.raw`| HighFailureRate, a\|b | `)
    const fires = [past('a', 0, null)]
    const elements = render(IncidentPage, shown(fires))
    expect(textOf(elements, { id: 'postmortem-title' })).toBeUndefined()
    expect(elements.find(({ type }) => type === 'p')?.text).toMatch(/^Fires since 2026-09-21 13:13:20 UTC, 1h so far\./)
  })

  test('counts alerts that fire beside each other, and not those that follow each other; and alerts that something suppressed, once each', () => {
    expect(mostAtOnce([past('a', 0, 30), past('b', 5, 6), past('b', 6, 7), past('b', 8, null)])).toBe(2)
    const inhibited = { by: 'inhibition' as const, alert: 'NoGoodPoll', at: at(1) }
    const twice = past('a', 0, 20, { suppressed: [inhibited, { ...inhibited, at: at(5) }] })
    expect(suppressionsOf(shown([twice]), [twice])).toEqual([{ text: 'inhibited by NoGoodPoll', alerts: 1 }])
  })

  test('has the alerts of all rules on the same subject that fired at the same time, however many others there are', async () => {
    const stub = (answers: readonly object[]) => {
      const asked: string[] = []
      vi.stubGlobal('fetch', async (url: string) => {
        asked.push(url)
        return new Response(JSON.stringify(answers[Math.min(asked.length, answers.length) - 1]))
      })
      return asked
    }
    const load = async () => {
      change({
        query: new URLSearchParams({ alert: 'VeryHighFailureRate', since: at(10) }),
        incidentPage: initialState.incidentPage,
      })
      await loadIncident()
      return current().incidentPage.answer
    }
    withoutBrowser()
    const [first, second] = [
      past('a', 0, 40),
      past('b', 10, 20, { alert: 'VeryHighFailureRate', severity: 'critical', threshold: 0.5 }),
    ]
    const others = [past('b', 10, 20, { alert: 'Other', reason: 'rejected' }), past('a', 50, null), past('c', -30, -20)]
    const newest = [...others.slice(0, 2), second, first, others[2]]
    stub([{ alerts: newest }])
    expect(await load()).toEqual({ alerts: [first, second], isCut: false })
    expect(titleOf([first, second])).toBe('VeryHighFailureRate, HighFailureRate on 2 targets')
    const asked = stub([{ alerts: [], truncated: true }, { alerts: newest }])
    expect(await load()).toMatchObject({ alerts: [first, second], isCut: true })
    expect(asked).toHaveLength(2)
  })

  test('is the one that lasted at the time of its address, from the second of its beginning to its end', async () => {
    withoutBrowser()
    const [before, first, second] = [past('a', -30, -20), past('a', 0.01, 20), past('b', 10, 30)]
    const other = past('b', 12, 40, { reason: 'rejected' })
    vi.stubGlobal('fetch', async () => new Response(JSON.stringify({ alerts: [other, second, first, before] })))
    const found = async (since: number) => {
      change({ query: new URLSearchParams({ alert: 'HighFailureRate', since: at(since) }) })
      await loadIncident()
      return current().incidentPage.answer?.alerts
    }
    for (const minutes of [0, 5, 10, 11]) expect(await found(minutes)).toEqual([first, second])
    for (const minutes of [12, 30, 40]) expect(await found(minutes)).toEqual([other])
    for (const minutes of [-0.5, 40.1]) expect(await found(minutes)).toEqual([])
    expect(await found(-25)).toEqual([before])
  })

  test('says what the overview says of it while it fires', () => {
    const alert = { ...firing(RATIO_RULE), value: 0.75, calls: 40 }
    const targets = ['a', 'b', 'c'].map((target) => shownTarget({ target, rules: [RATIO_RULE], alerts: [alert] }))
    const { snapshot } = amid(targets)
    const textsOf = (until: number | null) => {
      const all = ['a', 'b'].map((target) => past(target, 0, until, { alert: RATIO_RULE.name }))
      const elements = render(IncidentPage, { ...shown(all), snapshot })
      return elements.flatMap(({ type, text }) => (['h2', 'a'].includes(type) ? text : []))
    }
    expect(textsOf(null).slice(0, 4)).toEqual([
      '3 of 3 targets: 42.5% of 120 calls failed in 15 minutes, mostly rejected',
      'Silence',
      'Runbook',
      `${RATIO_RULE.name} on 2 targets`,
    ])
    expect(textsOf(20)[0]).toBe(`${RATIO_RULE.name} on 2 targets`)
    expect(textsOf(null)).not.toContain('The page of this incident')
  })

  test('is loaded again each half minute while it lasts, and no more once it is over', async () => {
    withoutBrowser()
    let answer = [past('a', 0, null)]
    const fetching = vi.fn(async () => new Response(JSON.stringify({ alerts: answer })))
    vi.stubGlobal('fetch', fetching)
    change({ view: 'incident', query: new URLSearchParams({ alert: 'HighFailureRate', since: at(0) }) })
    await loadIncident()
    const loads = async (seconds: number) => {
      refreshIncident(performance.now() + seconds * 1000)
      await vi.waitFor(() => expect(current().incidentPage.isLoading).toBe(false))
      return fetching.mock.calls.length
    }
    expect(await loads(20)).toBe(1)
    answer = [past('a', 0, 20)]
    expect(await loads(31)).toBe(2)
    expect(await loads(62)).toBe(2)
  })

  test('says that there is none', () => {
    expect(textOf(render(IncidentPage, shown([])), { id: 'incident-facts' })).toMatch(
      /No alert of this rule fired then/,
    )
  })
})
