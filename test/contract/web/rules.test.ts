import { expect, test } from 'vitest'
import { valuesOfDay } from '../../../src/alerts/values-of-day.ts'
import { NOW, RATIO_RULE } from '../../kit/metrics/hand-made-target.ts'
import { AUTH, basic, serve, shownTarget } from '../../kit/web/serve.ts'

/** A target whose rule had these values, one evaluation after the other; undefined had too few calls. */
const targetWith = (target: string, ...evaluated: (number | undefined)[]) => {
  const values = valuesOfDay()
  for (const value of evaluated)
    values.note(new Map([[RATIO_RULE, value === undefined ? undefined : { value, calls: 40, labels: {} }]]), NOW)
  return { ...shownTarget({ target, rules: [RATIO_RULE] }), values }
}
const served = async (query = '') => {
  const { url } = await serve([
    targetWith('a', 0.25),
    targetWith('b', 0.75),
    targetWith('c'),
    targetWith('few', 0.9, undefined),
  ])
  const answer = await fetch(`${url}/api/v1/rules${query}`)
  return { status: answer.status, body: JSON.parse(await answer.text()) }
}

test('/api/v1/rules has each rule in words, its worst value of all targets, that of the last day, and who is notified', async () => {
  const { rules } = (await served()).body
  expect(rules).toMatchObject([
    {
      name: RATIO_RULE.name,
      text: expect.stringMatching(/^more than 30% of the calls in the last 15m failed/),
      notify: ['slack', 'pager'],
      now: { target: 'b', value: 0.75, calls: 40, labels: {}, threshold: 0.3 },
    },
  ])
  expect(rules[0].values).toHaveLength(96)
  expect(rules[0].values.at(-1)).toEqual({ at: '2026-09-21T14:00:00.000Z', value: 0.75 })
})

test('/api/v1/rules has the threshold that the usual share raises', async () => {
  const rule = { ...RATIO_RULE, signal: { ...RATIO_RULE.signal, aboveUsual: 0.15 } }
  const values = valuesOfDay()
  values.note(new Map([[rule, { value: 0.4, usual: 0.45, calls: 40, labels: {} }]]), NOW)
  const { url } = await serve([{ ...shownTarget({ target: 'a', rules: [rule] }), values }])
  const { rules } = JSON.parse(await (await fetch(`${url}/api/v1/rules`)).text())
  expect([rules[0].threshold, rules[0].now.threshold]).toEqual([0.3, 0.6])
})

test.each([
  ['?target=a', 'a', 96, undefined],
  ['?target=c', undefined, 0, 'no successful poll'],
  // Of too few calls there is no value, whatever it was before.
  ['?target=few', undefined, 96, 'fewer than 20 calls'],
])('/api/v1/rules%s has those of this target, or why there are none', async (query, target, length, why) => {
  const { rules } = (await served(query)).body
  expect([rules[0].now?.target, rules[0].no_value]).toEqual([target, why])
  expect(rules[0].values).toHaveLength(length)
})

test('/api/v1/rules refuses a target that there is not', async () => {
  expect(await served('?target=typo')).toMatchObject({ status: 400, body: { detail: expect.stringContaining('typo') } })
})

test('POST /api/v1/test-notify says what became of the samples, and is refused without a password', async () => {
  const { url, noted } = await serve([shownTarget()], { auth: AUTH })
  const answer = await fetch(`${url}/api/v1/test-notify`, { method: 'POST', headers: basic() })
  expect(JSON.parse(await answer.text()).results).toEqual([
    { receiver: 'slack', problem: null },
    { receiver: 'pager', problem: 'HTTP 404' },
  ])
  expect(noted).toMatchObject([{ kind: 'receivers tested', user: AUTH.username }])
  const { url: open } = await serve([shownTarget()])
  const refused = await fetch(`${open}/api/v1/test-notify`, { method: 'POST' })
  expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('http.auth')])
})
