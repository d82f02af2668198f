import { expect, test } from 'vitest'
import { finish, finishedCall, POLLED } from '../../kit/metrics/hand-made-target.ts'
import { serve, shownTarget } from '../../kit/web/serve.ts'
import { inChromium } from './chromium.ts'

inChromium('the calls on a phone', (open) => {
  test('are cards below a summary, and their filters are a line that opens', { timeout: 60_000 }, async () => {
    const calls = Array.from({ length: 40 }, (_, i) =>
      finishedCall(`call-${i}`, { finish: finish(i % 4 === 0 ? 'rejected' : 'ended', 60 * i) }),
    )
    const history = calls.map((call) => ({ target: 'production', call }))
    const { url } = await serve([shownTarget({ sync: POLLED })], { history })
    const page = await open(`${url}/?target=production&type=audio#calls`, { viewport: { width: 390, height: 844 } })
    await page.locator('#explorer tbody tr').first().waitFor()
    expect(await page.locator('#explorer .facts').innerText()).toMatch(/ended 30, rejected 10[^]*audio 40[^]*call 40/)
    const card = page.locator('#explorer tbody tr').first()
    expect(await card.innerText()).toMatch(/rejected[^]*production[^]*audio/)
    expect((await card.boundingBox())!.height).toBeGreaterThan(60)
    expect(await page.locator('#explorer thead').isVisible()).toBe(false)
    const filters = page.locator('#explorer .filters > summary')
    expect(await filters.innerText()).toBe('Filters: target=production, type=audio')
    expect((await filters.boundingBox())!.height).toBeLessThan(40)
    expect(await page.getByLabel('Type').isVisible()).toBe(false)
    await filters.click()
    await page.getByLabel('Type').selectOption('video')
    await page.locator('#explorer-note').getByText('No call matches.').waitFor()
    // They stay open while the list changes, and are always open where there is room.
    expect(await page.getByLabel('Type').isVisible()).toBe(true)
    await filters.click()
    await page.setViewportSize({ width: 1280, height: 800 })
    await expect.poll(() => filters.isVisible(), { timeout: 5000 }).toBe(false)
    expect(await page.getByLabel('Type').isVisible()).toBe(true)
  })
})
