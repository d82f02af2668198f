import { expect, test } from 'vitest'
import { alertOf } from '../../../src/alerts/alert.ts'
import { ruleSubjectOf } from '../../../src/alerts/incidents.ts'
import { isoTime } from '../../../src/clock/times.ts'
import type { ToldGroup } from '../../../src/store/store.ts'
import { eventClient } from '../../kit/web/event-client.ts'
import { firing, NOW, POLLED, RATIO_RULE } from '../../kit/metrics/hand-made-target.ts'
import { serve, shownTarget } from '../../kit/web/serve.ts'

const TOLD: ToldGroup = {
  at: NOW,
  begun: NOW,
  interval: NOW,
  hasGrown: false,
  begunAgain: 0,
  targets: 1,
  severity: 'warning',
}

const GROUPED = { ...RATIO_RULE, name: 'HighFailureRateOfMeetings', match: { mode: 'meet' } } as const

test.each([
  ['', ['HighFailureRate', 'HighFailureRateOfMeetings']],
  ['?alert=HighFailureRate', ['HighFailureRate']],
  ['?alert==~High.*', ['HighFailureRate', 'HighFailureRateOfMeetings']],
  ['?mode=meet', ['HighFailureRateOfMeetings']],
  ['?alert==~High.*&mode=call', []],
  ['?severity=critical', []],
  ['?target==~prod.*', ['HighFailureRate', 'HighFailureRateOfMeetings']],
])('/api/v1/alerts%s has what a silence with this match would match', async (query, names) => {
  expect((await alerts(query)).alerts.map(({ alert }) => alert)).toEqual(names)
})

test.each([
  ['?alert=NoCall', 'there is no rule NoCall; there is: HighFailureRate, HighFailureRateOfMeetings'],
  ['?alert==~(', 'the regular expression is none that RE2 understands: missing closing )'],
  ['?uid=x', 'unknown parameter uid; the parameters are alert, severity, target, type, mode, receiver_type'],
])('/api/v1/alerts%s is refused with a sentence', async (query, detail) => {
  expect(await alerts(query)).toMatchObject({ status: 400, detail })
})

test.each([
  ['without their silences while the store cannot be read', 'the disk is full', 200],
  ['but a bug is an error', new TypeError('a bug'), 500],
])('/api/v1/alerts has alerts %s', async (_name, storeProblem, status) => {
  const { url } = await serve([shownTarget({ rules: [RATIO_RULE], alerts: [firing()] })], { storeProblem })
  expect((await fetch(`${url}/api/v1/alerts`)).status).toBe(status)
})

test('/api/v1/incidents says since when its numbers stand', async () => {
  const { evaluatedAt: at } = firing()
  const summaryAt = async (freshFrom: number) => {
    const { url } = await serve([shownTarget({ alerts: [firing()] })], { freshFrom: () => freshFrom })
    return (await fetch(`${url}/api/v1/incidents`)).text()
  }
  expect(await summaryAt(at)).toContain('"unpolled":null')
  expect(await summaryAt(at + 1)).toContain(`"unpolled":{"targets":1,"since":"${isoTime(at)}"}`)
})

test('an incident begins when the first message about it said so, in the API and on the page', async () => {
  const target = shownTarget({ rules: [RATIO_RULE], alerts: [firing()], sync: POLLED })
  const { url, tell } = await serve([target])
  const { incidents } = JSON.parse(await (await fetch(`${url}/api/v1/incidents`)).text())
  const { since } = firing()
  expect(incidents).toMatchObject([{ since: isoTime(since), calls: { before: null } }])
  const subject = ruleSubjectOf(alertOf({ target: 'production', instance: firing() }))
  const tellingOf = (receiver: string, given: Partial<ToldGroup>) => ({
    receiver,
    group: 'HighFailureRate warning',
    told: { ...TOLD, was: { subject, before: 0.1 }, ...given },
  })
  await tell(
    tellingOf('slack', { since: since - 600 }),
    tellingOf('pager', { since: since - 60, was: { subject, before: 0.2 } }),
    // What these were told is over, or about another group.
    tellingOf('mail', { since: since - 5000, at: since - 4000 }),
    tellingOf('hook', { since: since - 5000, targets: 0 }),
    { ...tellingOf('teams', { since: since - 5000 }), group: 'NoCalls warning' },
  )
  const told = [{ since: isoTime(since - 600), calls: { before: 0.1 } }]
  expect(JSON.parse(await (await fetch(`${url}/api/v1/incidents`)).text())).toMatchObject({ incidents: told })
  const { data } = (await (await eventClient(url, undefined, '?state=true')).next())!
  expect(data).toMatchObject({ incidents: told })
})

async function alerts(query: string): Promise<{ alerts: { alert: string }[] }> {
  const rules = [RATIO_RULE, GROUPED]
  const { url } = await serve([shownTarget({ rules, alerts: rules.map((rule) => firing(rule)) })])
  return JSON.parse(await (await fetch(`${url}/api/v1/alerts${query}`)).text())
}
