import { expect, test } from 'vitest'
import { isoTime } from '../../../src/clock/times.ts'
import { NOW } from '../../kit/metrics/hand-made-target.ts'
import { serve, shownTarget } from '../../kit/web/serve.ts'
import { inChromium, shown } from './chromium.ts'
import { problemsInAllLooks } from './in-page.ts'

inChromium('the past alerts of an incident on 300 targets', (open) => {
  test('are a row, which a key opens, and violate no rule of accessibility', async () => {
    const alert = { alert: 'HighFailureRate', key: 'HighFailureRate', severity: 'warning', labels: {}, match: {} }
    const measured = { signal: 'failure_ratio', window_seconds: 900, breach: 'above', threshold: 0.3, peak: 0.6 }
    const none = { outcome: 'resolved', values: [], notified: [], suppressed: [], blind: [] }
    const alerts = Array.from({ length: 300 }, (_, i) => {
      const times = { since: isoTime(NOW - 4000 - i), until: isoTime(NOW - 3000 + i) }
      return { target: `t${i}`, ...alert, ...measured, ...times, ...none }
    })
    const { url } = await serve([shownTarget()])
    const page = await open(`${url}/#usage`)
    await page.route('**/api/v1/alerts?*', (route) => route.fulfill({ json: { alerts } }))
    await page.goto(`${url}/?zone=UTC#alerts`)
    await page.getByRole('button', { name: 'Show alerts of HighFailureRate' }).press('Enter')
    const rows = page.locator('#past-alerts tbody tr')
    await shown(() => rows.count()).toBe(301)
    expect(await rows.first().innerText()).toMatch(/^HighFailureRate on 300 targets Hide/)
    expect(await rows.nth(1).getByRole('link').getAttribute('href')).toContain('target=t0&alert=HighFailureRate')
    expect(await problemsInAllLooks(page)).toEqual([])
    await page.getByRole('button', { name: 'Hide alerts of HighFailureRate' }).press('Enter')
    await shown(() => rows.count()).toBe(1)
  })
})
