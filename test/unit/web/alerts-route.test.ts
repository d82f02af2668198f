import { expect, test } from 'vitest'
import { isoTime } from '../../../src/clock/times.ts'
import { firing, RATIO_RULE } from '../../kit/metrics/hand-made-target.ts'
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

test('/api/v1/incidents says since when its numbers stand', async () => {
  const { evaluatedAt: at } = firing()
  const summaryAt = async (freshFrom: number) => {
    const { url } = await serve([shownTarget({ alerts: [firing()] })], { freshFrom: () => freshFrom })
    return (await fetch(`${url}/api/v1/incidents`)).text()
  }
  expect(await summaryAt(at)).toContain('"unpolled":null')
  expect(await summaryAt(at + 1)).toContain(`"unpolled":{"targets":1,"since":"${isoTime(at)}"}`)
})

async function alerts(query: string): Promise<{ alerts: { alert: string }[] }> {
  const rules = [RATIO_RULE, GROUPED]
  const { url } = await serve([shownTarget({ rules, alerts: rules.map((rule) => firing(rule)) })])
  return JSON.parse(await (await fetch(`${url}/api/v1/alerts${query}`)).text())
}
