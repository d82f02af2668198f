import { expect, test } from 'vitest'
import { valuesOfDay } from '../../../src/alerts/values-of-day.ts'
import { NOW, RATIO_RULE } from '../../kit/metrics/hand-made-target.ts'
import { AUTH, basic, serve, shownTarget } from '../../kit/web/serve.ts'

const targetWith = (target: string, value?: number) => {
  const values = valuesOfDay()
  if (value !== undefined) values.note(new Map([[RATIO_RULE, { value, calls: 40, labels: {} }]]), NOW)
  return { ...shownTarget({ target, rules: [RATIO_RULE] }), values }
}
const servedRules = async (query = '') => {
  const { url } = await serve([targetWith('a', 0.25), targetWith('b', 0.75), targetWith('c')])
  return JSON.parse(await (await fetch(`${url}/api/v1/rules${query}`)).text())
}

test('/api/v1/rules has each rule in words, its worst value of all targets, that of the last day, and who is notified', async () => {
  const { rules } = await servedRules()
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

test.each([
  ['?target=a', 'a'],
  ['?target=c', undefined],
])('/api/v1/rules%s has those of this target', async (query, target) => {
  const { rules } = await servedRules(query)
  expect(rules[0].now?.target).toBe(target)
  expect(rules[0].values.length > 0).toBe(target !== undefined)
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
