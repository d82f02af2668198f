import { expect, test } from 'vitest'
import { isoTime } from '../../../src/clock/times.ts'
import { start } from '../../kit/commands/callwatch.ts'
import { NOW } from '../../kit/metrics/hand-made-target.ts'
import { serve, shownTarget } from '../../kit/web/serve.ts'
import { inChromium, shown } from './chromium.ts'
import { problemsInAllLooks } from './in-page.ts'

type Call = { call_id: string; status: string; finished: string }

inChromium('the page of a demo with a past', (open) => {
  test('links each past alert to exactly its calls', async () => {
    const running = start(['demo', '--quiet', '--history', '1d'])
    const [, url] = await running.printed(/^the page: +(http:\S+)$/m)
    const json = async (path: string) => JSON.parse(await (await fetch(new URL(path, url))).text())
    const all: Call[] = (await json('api/v1/calls?since=2d&limit=9999')).calls
    const { alerts } = await json('api/v1/alerts/history?since=2d')
    expect(alerts).toMatchObject([{ alert: 'LastingFailures' }])
    const page = await open(`${url}#alerts`)
    for (const [i, { since, until }] of alerts.entries()) {
      // The window of the first value began an hour before it. Times of finished calls are whole seconds.
      const [from, to] = [Math.floor(Date.parse(since) / 1000) * 1000 - 3_600_000, Date.parse(until)]
      const behind = all.filter(({ status, finished }) => {
        const at = Date.parse(finished)
        return status !== 'ended' && at >= from && at <= to
      })
      expect(behind.length).toBeGreaterThan(80)
      await page.locator('#past-alerts tbody th a').nth(i).click()
      await page.getByRole('link', { name: 'Failed calls', exact: true }).click()
      const note = page.locator('#explorer-note')
      await note.getByText('calls, ').waitFor()
      const older = page.getByRole('button', { name: 'Older calls' })
      if (await older.isVisible()) await older.click()
      await note.getByText(`${behind.length} calls, all that match`).waitFor()
      const addresses = await page
        .locator('#explorer tbody .session a')
        .evaluateAll((links) => links.map((link) => link.getAttribute('href')!))
      const ids = addresses.map((address) => new URL(address, url).searchParams.get('call_id')!)
      expect(ids.toSorted()).toEqual(behind.map(({ call_id }) => call_id).toSorted())
      await page.goBack()
      await page.goBack()
    }
  })
})

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
    await page.route('**/api/v1/alerts/history?*', (route) => route.fulfill({ json: { alerts } }))
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
