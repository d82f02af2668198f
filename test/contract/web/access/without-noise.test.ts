import { expect, test } from 'vitest'
import type { StateChange } from '../../../../src/views/state/state.ts'
import { firing, openCall, RATIO_RULE } from '../../../kit/metrics/hand-made-target.ts'
import { eventClient } from '../../../kit/web/event-client.ts'
import { serve, shownTarget } from '../../../kit/web/serve.ts'

test('numbers of the API have no noise of floating point', async () => {
  const alert = { ...firing(), value: 0.1 + 0.2, peak: 0.35669999999999996 }
  const { url } = await serve([shownTarget({ rules: [RATIO_RULE], alerts: [alert] })])
  const answer = await fetch(`${url}/api/v1/state`)
  const text = await answer.text()
  expect(text).toContain('"value":0.3,')
  expect(text).toContain('"peak":0.3567,')
})

test('nor have those of the status, and of the state that the page hears', async () => {
  const rule = { ...RATIO_RULE, threshold: 0.1 + 0.2 }
  const alert = { ...firing(rule), value: 0.1 * 7 }
  const { url } = await serve([shownTarget({ rules: [rule], alerts: [alert] })])
  const status = await (await fetch(`${url}/api/v1/state`)).text()
  expect(status).toContain('"threshold":0.3,')
  const state = await (await eventClient(url, undefined, '?state=true')).next()
  const change = state!.data as StateChange // oxlint-disable-line typescript/no-unsafe-type-assertion -- as the server wrote it
  expect(change).toMatchObject({ targets: [{ rules: [{ threshold: 0.3 }] }], alerts: [{ value: 0.7 }] })
})

test.each([
  ['csv', ',0.3,0,0.7,0,'],
  ['ndjson', '"participant_minutes":{"audio":0.7,"video":0}'],
])('nor have those of calls as %s', async (format, expected) => {
  const { url } = await serve([shownTarget({ calls: [openCall('a', { minutes: [0.1 + 0.2, 0, 0.1 * 7, 0] })] })])
  const answer = await fetch(`${url}/api/v1/calls?format=${format}`)
  expect(await answer.text()).toContain(expected)
})
