import { expect, test } from 'vitest'
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
})
