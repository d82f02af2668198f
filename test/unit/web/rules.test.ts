import { expect, test } from 'vitest'
import { valuesOfDay } from '../../../src/alerts/values-of-day.ts'
import { finish, NOW, POLLED, RATIO_RULE } from '../../kit/metrics/hand-made-target.ts'
import { AUTH, basic, serve, shownTarget } from '../../kit/web/serve.ts'

const finished = (failed: number, total: number) =>
  Array.from({ length: total }, (_, i) => finish(i < failed ? 'rejected' : 'ended'))
const targetWith = (target: string, failed: number, total: number) => {
  const values = valuesOfDay()
  if (total > 0) values.note(new Map([[RATIO_RULE, { value: failed / total, calls: total, labels: {} }]]), NOW)
  return { ...shownTarget({ target, rules: [RATIO_RULE], sync: POLLED, finished: finished(failed, total) }), values }
}
const served = async (query = '') => {
  const { url } = await serve([
    targetWith('a', 10, 40),
    targetWith('b', 30, 40),
    targetWith('c', 0, 0),
    targetWith('few', 2, 2),
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

test.each([
  ['?target=a', 'a', 96],
  ['?target=c', undefined, 0],
  // Of too few calls there is no value now, whatever it was before.
  ['?target=few', undefined, 96],
])('/api/v1/rules%s has those of this target', async (query, target, length) => {
  const { rules } = (await served(query)).body
  expect(rules[0].now?.target).toBe(target)
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
