import { expect, test } from 'vitest'
import { isoTime } from '../../../src/clock/times.ts'
import { finish, finishedCall, NOW, POLLED } from '../../kit/metrics/hand-made-target.ts'
import { serve, shownTarget } from '../../kit/web/serve.ts'
import { inChromium, shown, type Opened } from './chromium.ts'
import { incidentTargets } from './thirty-targets.ts'

/** How many rows of a table are on the screen, and on paper. */
async function rowsOf(page: Opened, table: string): Promise<unknown[]> {
  const count = `document.querySelectorAll('${table} tbody tr').length`
  await page.evaluate(`addEventListener('beforeprint', () => (window.printed = ${count}))`)
  const onScreen = await page.evaluate(count)
  await page.pdf({ preferCSSPageSize: true })
  return [onScreen, await page.evaluate('window.printed')]
}

/** What has no room for its content. */
const CUT = `[...document.querySelectorAll('main *')].flatMap((one) => {
  const { overflowX, overflowY } = getComputedStyle(one)
  const isCut =
    (overflowY !== 'visible' && one.scrollHeight > one.clientHeight + 1) ||
    (overflowX !== 'visible' && one.scrollWidth > one.clientWidth + 1)
  return isCut && !one.matches('.announced') ? one.outerHTML.slice(0, 60) : []
})`

inChromium('a view on paper', (open) => {
  test('has each row of a report, which the screen has after a button', async () => {
    const history = Array.from({ length: 40 }, (_, i) => ({
      target: `t${i}`,
      call: finishedCall(`call-${i}`, { finish: finish('ended', 600) }),
    }))
    const targets = history.map(({ target }) => shownTarget({ target, sync: POLLED }))
    const { url } = await serve(targets, { history })
    const page = await open(`${url}/?since=1d&by=target,type#usage`)
    await page.locator('#usage-rows .total').waitFor()
    expect(await rowsOf(page, '#usage-rows')).toEqual([21, 41])
    await shown(() => page.locator('#usage-rows tbody tr').count()).toBe(21)
  })

  test('has each target of a list, of which the screen has thirty', async () => {
    const { url } = await serve(incidentTargets(60))
    expect(await rowsOf(await open(url), '#overview')).toEqual([30, 60])
  })

  test('has all alerts of an incident, its messages and its text, which scroll on the screen', async () => {
    const alert = { alert: 'HighFailureRate', key: 'HighFailureRate', severity: 'warning', labels: {}, match: {} }
    const measured = { signal: 'failure_ratio', window_seconds: 900, breach: 'above', threshold: 0.3, peak: 0.6 }
    const notified = Array.from({ length: 30 }, (_, i) => ({ receiver: 'slack', kind: 'firing', at: isoTime(NOW - i) }))
    const none = { outcome: 'resolved', values: [], notified, refused: [], suppressed: [], blind: [] }
    const [since, until] = [isoTime(NOW - 4000), isoTime(NOW - 3000)]
    const alerts = Array.from({ length: 100 }, (_, i) => ({ target: `t${i}`, ...alert, ...measured, ...none, since, until })) // oxfmt-ignore
    const { url } = await serve([shownTarget()])
    const page = await open(`${url}/#silences`)
    await page.route('**/api/v1/alerts?*', (route) => route.fulfill({ json: { alerts } }))
    await page.goto(`${url}/?alert=HighFailureRate&since=${since}#incident`)
    await page.locator('#postmortem').waitFor()
    expect(await page.evaluate(CUT)).toHaveLength(3)
    await page.emulateMedia({ media: 'print' })
    expect(await page.evaluate(CUT)).toEqual([])
  })
})
