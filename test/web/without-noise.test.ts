import { expect, test } from 'vitest'
import { firing, openCall, RATIO_RULE } from '../metrics/hand-made-target.ts'
import { serve, shownTarget } from './serve.ts'

test('numbers of the API have no noise of floating point', async () => {
  const alert = { ...firing(), value: 0.1 + 0.2, peak: 0.35669999999999996 }
  const { url } = await serve([shownTarget({ rules: [RATIO_RULE], alerts: [alert] })])
  const answer = await fetch(`${url}/api/v1/alerts`)
  const text = await answer.text()
  expect(text).toContain('"value":0.3,')
  expect(text).toContain('"peak":0.3567,')
})

test.each([
  ['csv', ',0.3,0,0.7,0,'],
  ['ndjson', '"participant_minutes":{"audio":0.7,"video":0}'],
])('nor have those of calls as %s', async (format, expected) => {
  const { url } = await serve([shownTarget({ calls: [openCall('a', { counted: [0.1 + 0.2, 0, 0.1 * 7, 0] })] })])
  const answer = await fetch(`${url}/api/v1/calls?format=${format}`)
  expect(await answer.text()).toContain(expected)
})
