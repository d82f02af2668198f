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
  ['?alerts=firing', ['HighFailureRate', 'HighFailureRateOfMeetings']],
])('/api/v1/state%s has what a silence with this match would match', async (query, names) => {
  expect((await alerts(query)).alerts.map(({ alert }) => alert)).toEqual(names)
})

test.each([
  ['?alert=NoCall', 'there is no rule NoCall; there is: HighFailureRate, HighFailureRateOfMeetings'],
  ['?alert==~(', 'the regular expression is none that RE2 understands: missing closing )'],
  ['?uid=x', 'unknown parameter uid; the parameters are alert, severity, target, type, mode, receiver_type, alerts'],
])('/api/v1/state%s is refused with a sentence', async (query, detail) => {
  expect(await alerts(query)).toMatchObject({ status: 400, detail })
})

test.each([
  ['without their silences while the store cannot be read', 'the disk is full', 200],
  ['but a bug is an error', new TypeError('a bug'), 500],
])('/api/v1/state has alerts %s', async (_name, storeProblem, status) => {
  const { url } = await serve([shownTarget({ rules: [RATIO_RULE], alerts: [firing()] })], { storeProblem })
  expect((await fetch(`${url}/api/v1/state`)).status).toBe(status)
})

test('incidents and alerts say that their numbers are from before', async () => {
  const { evaluatedAt: at } = firing()
  const heldAt = async (freshFrom: number) => {
    const { url } = await serve([shownTarget({ alerts: [firing()] })], { freshFrom: () => freshFrom })
    const { incidents, alerts } = JSON.parse(await (await fetch(`${url}/api/v1/state`)).text())
    return [incidents[0].held, alerts[0].held]
  }
  expect(await heldAt(at)).toEqual([[], undefined])
  const held = { since: isoTime(at), for: 'polls' }
  expect(await heldAt(at + 1)).toEqual([[{ ...held, targets: 1 }], held])
})

test('with a target, the state has what concerns it', async () => {
  const pending = { ...firing(GROUPED), state: 'pending' as const }
  const { url } = await serve([
    shownTarget({ rules: [RATIO_RULE], alerts: [firing()] }),
    shownTarget({ target: 'b', rules: [GROUPED], alerts: [pending] }),
  ])
  const ask = async (query: string) => JSON.parse(await (await fetch(`${url}/api/v1/state?${query}`)).text())
  const counted = async (query: string) => {
    const { targets, incidents, alerts, receivers } = await ask(query)
    return [targets, incidents, alerts, receivers].map(({ length }) => length)
  }
  expect(await counted('')).toEqual([2, 1, 2, 2])
  expect(await counted('target=production')).toEqual([1, 1, 1, 2])
  expect(await counted('target=b')).toEqual([1, 0, 1, 2])
  expect(await counted('target=b&alerts=firing')).toEqual([1, 0, 0, 2])
})

test('a client that has the state is answered 304 until something has changed, and not because time has passed', async () => {
  const targets = [shownTarget({ sync: POLLED })]
  const { url, tick } = await serve(targets)
  const ask = async (etag = '') => {
    const { status, headers } = await fetch(`${url}/api/v1/state`, { headers: { 'if-none-match': etag } })
    return { status, etag: headers.get('etag')! }
  }
  const { status, etag } = await ask()
  expect([status, etag]).toEqual([200, expect.stringMatching(/^W\/"[-\w]+"$/)])
  targets[0] = { ...targets[0]!, pollAge: () => 6 }
  tick(1)
  expect(await ask(`"x", ${etag}`)).toEqual({ status: 304, etag })
  targets[0] = { ...targets[0], pollAge: () => 46 }
  const later = await ask(etag)
  expect(later.status).toBe(200)
  expect(later.etag).not.toBe(etag)
})

test('readers that ask at the same time cost one reading', async () => {
  let reads = 0
  const targets = [shownTarget({ sync: POLLED, rules: [RATIO_RULE], alerts: [firing()] })]
  const { url } = await serve(targets, {
    onRead: () => new Promise((resolve) => setTimeout(resolve, 300)),
    suppressed: () => ((reads += 1), new Map()),
  })
  const answers = await Promise.all([1, 2, 3].map(async () => (await fetch(`${url}/api/v1/state`)).text()))
  expect([reads, new Set(answers).size]).toEqual([1, 1])
  await fetch(`${url}/api/v1/state`)
  expect(reads).toBe(2)
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
    // The key of a recipient has a hash of the address.
    rowOf(`mail ${'0f'.repeat(16)}`),
    rowOf(`mail ${'1e'.repeat(16)}`),
    rowOf('ended', { ended: NOW }),
    rowOf('of another alert', { key: 'NoCalls' }),
    rowOf('without an answer', {}, false),
  )
  const [incident] = JSON.parse(await (await fetch(`${url}/api/v1/state`)).text()).incidents
  const line = {
    about: 'messages',
    text: expect.stringMatching(/^Last message: mail \d\d:\d\d:\d\d UTC, slack \d\d:\d\d:\d\d UTC$/),
  }
  expect(incident.details).toContainEqual(line)
  const { data } = (await (await eventClient(url, undefined, '?state=true')).next())!
  expect(data).toMatchObject({ incidents: [{ details: expect.arrayContaining([line]) }] })
})

async function alerts(query: string): Promise<{ alerts: { alert: string }[] }> {
  const rules = [RATIO_RULE, GROUPED]
  const { url } = await serve([shownTarget({ rules, alerts: rules.map((rule) => firing(rule)) })])
  return JSON.parse(await (await fetch(`${url}/api/v1/state${query}`)).text())
}
