import { expect, test } from 'vitest'
import { POLL_AGE } from '../../kit/alerts/sample-rules.ts'
import { finish, finishedCall, firing, NOW, POLLED, RATIO_RULE } from '../../kit/metrics/hand-made-target.ts'
import { serve, shownTarget } from '../../kit/web/serve.ts'
import { inChromium, shown } from './chromium.ts'
import { hardToTouch } from './in-page.ts'
import { incidentTargets } from './thirty-targets.ts'

inChromium('the incidents on a phone', (open) => {
  test('say since when their numbers stand, also those below the first', async () => {
    const alerts = [
      { ...firing(POLL_AGE), value: 600, calls: undefined, counts: undefined, evidence: { lastPoll: NOW - 600 } },
      { ...firing(), evaluatedAt: NOW - 600 },
    ]
    const made = { rules: [POLL_AGE, RATIO_RULE], sync: POLLED }
    const polled = ['b', 'c'].map((target) => shownTarget({ ...made, target, alerts: [firing()] }))
    const targets = [shownTarget({ rules: made.rules, alerts, pollAge: 600 }), ...polled]
    const { url } = await serve(targets, { freshFrom: () => NOW - 45 })
    const page = await open(url, { viewport: { width: 390, height: 844 } })
    const second = page.locator('.incident ~ .incident')
    await second.getByText('No successful poll on 1 target since 14:03:20 UTC').waitFor()
    expect(await second.getByText('Also firing').isVisible()).toBe(false)
  })
})

inChromium('an incident on a phone', (open) => {
  test('has navigation, buttons and rows that a finger meets, and its failed calls', async () => {
    const { url } = await serve(incidentTargets())
    const page = await open(url, { viewport: { width: 390, height: 844 } })
    await page.locator('#feed').waitFor()
    expect(await hardToTouch(page)).toEqual([])
    // Too small for a finger, all of them are seen, and none is cut.
    const squares = page.locator('#head .squares')
    const cut = await squares.evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)
    const { width } = (await squares.locator('a').last().boundingBox())!
    expect([cut, await squares.locator('a').count(), width]).toEqual([0, 300, 9])
    await page.getByRole('link', { name: 'All 295 targets' }).click()
    expect(await page.locator('#alerts tbody tr').first().innerText()).toMatch(/87.2%[^]*34 of 39/)
    expect(
      await page
        .locator('.incident')
        .getByRole('link', { name: /^Silence/ })
        .isVisible(),
    ).toBe(true)
    expect(await hardToTouch(page)).toEqual([])
  })
})

inChromium('the charts on a phone', (open) => {
  test('begin with a line that opens their filters', async () => {
    const { url } = await serve([shownTarget({ sync: POLLED })])
    const page = await open(`${url}/?since=24h#charts`, { viewport: { width: 390, height: 844 } })
    const filters = page.locator('#charts .filters > summary')
    await filters.waitFor()
    expect(await filters.innerText()).toBe('Filters: since=24h')
    expect(await page.getByLabel('Period').isVisible()).toBe(false)
    await filters.click()
    await shown(() => page.getByLabel('Period').isVisible()).toBe(true)
  })
})

inChromium('the calls on a phone', (open) => {
  test('are cards below a summary, and their filters are a line that opens', async () => {
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
    // As many as fit, until more are wanted.
    const last = page.locator('#explorer tbody tr').last()
    expect(await last.isVisible()).toBe(false)
    await page.getByLabel('All 40').check()
    await shown(() => last.isVisible()).toBe(true)
    expect(await page.locator('#explorer thead').isVisible()).toBe(false)
    const filters = page.locator('#explorer .filters > summary')
    expect(await filters.innerText()).toBe('Filters: target=production, type=audio')
    expect((await filters.boundingBox())!.height).toBeLessThan(50)
    expect(await page.getByLabel('Type').isVisible()).toBe(false)
    await filters.click()
    await page.getByLabel('Type').selectOption('video')
    await page.locator('#explorer-note').getByText('No call matches.').waitFor()
    // They stay open while the list changes, and are always open where there is room.
    expect(await page.getByLabel('Type').isVisible()).toBe(true)
    await filters.click()
    await page.setViewportSize({ width: 1280, height: 800 })
    await shown(() => filters.isVisible()).toBe(false)
    await shown(() => page.getByLabel('Type').isVisible()).toBe(true)
  })
})
