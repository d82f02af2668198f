import { expect, test } from 'vitest'
import { alertOf } from '../../../src/alerts/alert.ts'
import { isoTime } from '../../../src/clock/times.ts'
import { eventClient } from '../../kit/web/event-client.ts'
import { firing, NOW, POLLED, RATIO_RULE } from '../../kit/metrics/hand-made-target.ts'
import { serve, shownTarget } from '../../kit/web/serve.ts'

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

test('/api/v1/incidents and /api/v1/alerts say that their numbers are from before', async () => {
  const { evaluatedAt: at } = firing()
  const summaryAt = async (freshFrom: number) => {
    const { url } = await serve([shownTarget({ alerts: [firing()] })], { freshFrom: () => freshFrom })
    const [incidents, alerts] = ['incidents', 'alerts'].map(async (of) => (await fetch(`${url}/api/v1/${of}`)).text())
    return `${await incidents} ${await alerts}`
  }
  expect(await summaryAt(at)).toMatch(/"held":\[\](?!.*"held")/)
  const held = `{"since":"${isoTime(at)}","for":"polls"`
  expect(await summaryAt(at + 1)).toContain(`"held":[${held},"targets":1}]`)
  expect(await summaryAt(at + 1)).toContain(`"held":${held}}`)
})

test('an incident has the latest message that each receiver accepted about it, in the API and on the page', async () => {
  const { url, tell } = await serve([shownTarget({ rules: [RATIO_RULE], alerts: [firing()], sync: POLLED })])
  const { target, key, alert, labels, severity, firingSince } = alertOf({ target: 'production', instance: firing() })
  const told = { target, key, alert, labels, severity, firingSince, at: NOW, thread: '1' }
  const rowOf = (receiver: string, differing: object = {}, accepted = true) => {
    return { id: receiver, receiver, accepted, data: JSON.stringify({ begun: [{ ...told, ...differing }], ended: [] }) }
  }
  await tell(
    rowOf('slack'),
    rowOf('ended', { ended: NOW }),
    rowOf('of another alert', { key: 'NoCalls' }),
    rowOf('without an answer', {}, false),
  )
  const [incident] = JSON.parse(await (await fetch(`${url}/api/v1/incidents`)).text()).incidents
  const line = { about: 'messages', text: expect.stringMatching(/^Last message: slack \d\d:\d\d:\d\d UTC$/) }
  expect(incident.details).toContainEqual(line)
  const { data } = (await (await eventClient(url, undefined, '?state=true')).next())!
  expect(data).toMatchObject({ incidents: [{ details: expect.arrayContaining([line]) }] })
})

async function alerts(query: string): Promise<{ alerts: { alert: string }[] }> {
  const rules = [RATIO_RULE, GROUPED]
  const { url } = await serve([shownTarget({ rules, alerts: rules.map((rule) => firing(rule)) })])
  return JSON.parse(await (await fetch(`${url}/api/v1/alerts${query}`)).text())
}
