import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { labelsOf } from '../../../src/ledger/call.ts'
import { suppressedAlerts } from '../../../src/notifications/delivery/suppress.ts'
import { firingOf, RATIO as ANY } from '../../kit/alerts/sample-rules.ts'
import { finish, finishedCall, firing, NOW, POLLED } from '../../kit/metrics/hand-made-target.ts'
import { AUTH, basic, serve, shownTarget } from '../../kit/web/serve.ts'
import { inChromium, shown } from './chromium.ts'
import { problemsInAllLooks } from './in-page.ts'

const WEEK = 7 * 86_400
const RATIO = { ...ANY, match: { mode: 'call' } }

/** An alert that fires, and one that fired a day ago; both have calls now and a week earlier. */
async function serveAlerts() {
  const alert = firing(RATIO)
  const calls = [0, 86_400, WEEK, WEEK + 86_400].flatMap((ago) =>
    Array.from({ length: 20 }, (_, i) => {
      const every = ago < WEEK ? 3 : 5
      return finishedCall(`${ago}-${i}`, { finish: finish(i % every === 0 ? 'rejected' : 'ended', ago + 100 + 20 * i) })
    }),
  )
  calls.push(finishedCall('after', { finish: finish('ended', 86_300) }))
  // The rule does not select it.
  const labels = labelsOf('audio', 'meet', 'user')
  calls.push(finishedCall('meeting', { labels, finish: { ...finish('ended', 120), labels } }))
  const target = shownTarget({ rules: [RATIO], alerts: [alert], sync: POLLED })
  const history = calls.map((call) => ({ target: 'production', call }))
  const notify = { inhibit: [], mutes: [] }
  const served = await serve([target], {
    history,
    created: NOW - 3 * WEEK,
    auth: AUTH,
    suppressed: (alerts, silences) => suppressedAlerts(alerts, { notify, silences, now: NOW }),
  })
  const episode = (from: number) => ({
    threshold: 0.3,
    values: Array.from({ length: 6 }, (_, i) => [from + i * 60, i === 3 ? null : 0.35 + i / 40] as const),
    measuredFrom: from - 900,
  })
  const day = NOW - 86_400
  const past = { ...firingOf(RATIO, 'production', day - 400), episode: episode(day - 400) }
  const window = { from: day - 900, to: day }
  await served.append(firingOf(RATIO, 'production', alert.firingSince!, { window: { from: NOW - 900, to: NOW } }))
  await served.append(past, { ...past, kind: 'resolved', at: day, window })
  const headers = { ...basic(), 'content-type': 'application/json' }
  const body = JSON.stringify({ match: { alert: 'HighFailureRate' }, for: '2h', reason: 'a carrier outage' })
  await fetch(`${served.url}/api/v1/silences`, { method: 'POST', headers, body })
  return served.url
}

/** Whether the chart of the past alert has a line at some times (seconds after it fired). */
const linesAt = (page: Page, ...times: number[]) =>
  page.evaluate<boolean[]>(`(() => {
    const canvas = document.querySelector('#alert-value canvas')
    const [{ left }, over] = [canvas, document.querySelector('#alert-value .u-over')].map((one) => one.getBoundingClientRect())
    const { data, width } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    const isLine = (i) => [15, 127, 134, 255].every((part, k) => data[4 * i + k] === part)
    return [${times.join()}].map((time) => {
      // It lasts from half an hour before the alert fired until a step and half an hour after it ended.
      const x = Math.round(over.left - left + (over.width * (1800 + time)) / (1800 + 400 + 1800 + 60))
      return Array.from({ length: canvas.height }, (_, y) => y * width + x).some(isLine)
    })
  })()`)

inChromium('the page of an alert', (open) => {
  test('is where the overview leads, of one that fires and of a past one', async () => {
    const page = await open(`${await serveAlerts()}/`, { httpCredentials: { ...AUTH, send: 'always' } })
    await page.locator('#head h2 a').click()
    await page.locator('#alert-calls tbody tr').first().waitFor()
    const facts = page.locator('#alert-facts')
    expect(await facts.getByRole('heading').innerText()).toBe(
      'production: 42.5% of 40 ringing calls failed in 15 minutes, mostly rejected',
    )
    expect(await facts.locator('.facts').innerText()).toMatch(/firing\s+warning[^]*Value\s+42.5%/)
    expect(await page.locator('#alert-suppressed li').innerText()).toMatch(
      /^Silenced until 16:13 by ops: a carrier outage$/,
    )
    expect(await page.locator('#alert-calls tbody tr').innerText()).toMatch(
      /^audio\s+call\s+user\s+20\s+7\s+35%\s+20\s+20%$/,
    )

    await page.getByRole('link', { name: 'Alerts', exact: true }).click()
    await page.locator('#past-alerts tbody th a').first().click()
    await page.locator('#alert-value canvas').waitFor()
    expect(await facts.locator('.facts').innerText()).toMatch(/resolved\s+warning[^]*Fired\s+2026-09-20 14:06:40 UTC/)
    await page.getByText('The chart as a table').first().click()
    // What it was after it had resolved is computed of its calls.
    const table = page.getByRole('table', { name: 'Failure ratio' })
    await shown(() => table.innerText()).toMatch(/2026-09-20 14:16\s+33\.3%[^]*47\.5%/)
    // With too few calls there is no line.
    await shown(() => linesAt(page, 90, 180, 270)).toEqual([true, false, true])
    expect(await table.locator('tbody th').first().innerText()).toMatch(/2026-09-20 14:43/)
    expect(await table.locator('tbody th').last().innerText()).toMatch(/2026-09-20 13:36/)
    await facts.getByRole('link', { name: 'Failed calls', exact: true }).click()
    await page.locator('#explorer-note').getByText('7 calls, all that match').waitFor()
  })

  test('violates no rule of accessibility in light, dark and on a phone', async () => {
    const address = '?target=production&alert=HighFailureRate#alert'
    const page = await open(`${await serveAlerts()}/${address}`, { httpCredentials: { ...AUTH, send: 'always' } })
    await page.locator('#alert-calls tbody tr').first().waitFor()
    if (process.env['SCREENSHOTS'] !== undefined)
      for (const [width, colorScheme] of [
        [1440, 'light'],
        [1440, 'dark'],
        [390, 'light'],
      ] as const) {
        await page.setViewportSize({ width, height: 900 })
        await page.emulateMedia({ colorScheme })
        await page.screenshot({
          path: `${process.env['SCREENSHOTS']}/alert ${width} ${colorScheme}.png`,
          fullPage: true,
        })
      }
    expect(await problemsInAllLooks(page)).toEqual([])
  })
})
