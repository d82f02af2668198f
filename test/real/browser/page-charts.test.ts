import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { finish, finishedCall, NOW, POLLED, RATIO_RULE } from '../../kit/metrics/hand-made-target.ts'
import { isoTime } from '../../../src/clock/times.ts'
import { serve, shownTarget } from '../../kit/web/serve.ts'
import { cannedCharts, type cannedSeries } from './canned-charts.ts'
import { inChromium, shown, type Open, type Opened } from './chromium.ts'
import { openFolded, problemsInAllLooks, walk } from './in-page.ts'

const CRITICAL = { ...RATIO_RULE, name: 'VeryHighFailureRate', severity: 'critical' as const, threshold: 0.5 }
const COUNT = new Intl.NumberFormat('en')

/** Serves two targets with rules, and 120 calls of the last hour. */
async function serveTargets() {
  const status = (i: number) => (['ended', 'ended', 'unanswered', 'rejected'] as const)[i % 4]!
  const history = Array.from({ length: 120 }, (_, i) => ({
    target: 'production',
    call: finishedCall(`call-${i}`, { finish: finish(status(i), 10 + 30 * i), status: status(i) }),
  }))
  const production = shownTarget({ rules: [{ ...RATIO_RULE, match: { mode: 'call' } }, CRITICAL], sync: POLLED })
  return serve([production, shownTarget({ target: 'staging', sync: POLLED })], { history })
}

type Charts = { page: Opened; requests: URL[] }

/** Opens the view with canned answers. */
async function openCharts(open: Open, address = '#charts', options: Parameters<Open>[1] = {}): Promise<Charts> {
  const { url } = await serveTargets()
  const page = await open(`${url}/?zone=UTC#usage`, options)
  const requests = await cannedCharts(page)
  await page.goto(`${url}/${address}`)
  await page.locator('#chart-answer-delay canvas').waitFor()
  return { page, requests }
}

const time = (page: Page) => page.locator('#cursor strong').innerText()
/** The values of a legend by their names. */
const legend = (page: Page, chart: string): Promise<Record<string, string>> =>
  page.evaluate(`Object.fromEntries([...document.querySelectorAll('#chart-${chart} .legend div:has(dd)')].map((one) =>
    [one.querySelector('dt').textContent.trim(), one.querySelector('dd').textContent.trim()]))`)

/** The colours of a chart that at least so many pixels have, as `r,g,b`. */
const colours = (page: Page, chart: string, pixels = 8): Promise<string[]> =>
  page.evaluate(`(() => {
    const canvas = document.querySelector('#chart-${chart} canvas')
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    const seen = new Map()
    for (let i = 0; i < data.length; i += 4) {
      const colour = [data[i], data[i + 1], data[i + 2]].join()
      if (data[i + 3] === 255) seen.set(colour, (seen.get(colour) ?? 0) + 1)
    }
    return [...seen].filter(([, n]) => n >= ${pixels}).map(([colour]) => colour)
  })()`)

/** Draws with the pointer over a part of a chart, from 0 (left) to 1 (right). */
async function brush(page: Page, chart: string, from: number, to: number): Promise<void> {
  await page.locator(`#chart-${chart} .u-over`).scrollIntoViewIfNeeded()
  const { x, y, width, height } = (await page.locator(`#chart-${chart} .u-over`).boundingBox())!
  await page.mouse.move(x + from * width, y + height / 2)
  await page.mouse.down()
  await page.mouse.move(x + ((from + to) / 2) * width, y + height / 2)
  await page.mouse.move(x + to * width, y + height / 2)
  await page.mouse.up()
}

inChromium('the charts', (open) => {
  test('are drawn with their thresholds, and what is not covered', async () => {
    const { page } = await openCharts(open, '?target=production&mode=call#charts')
    // Ended, unanswered, rejected and the hatching of what is not covered; the threshold of a warning.
    const [hatching, warning] = ['127,136,145', '138,83,0']
    await shown(() => colours(page, 'calls')).toEqual(expect.arrayContaining(['0,114,178', '181,128,0', '184,67,0']))
    expect(await colours(page, 'failure-ratio', 500)).toContain(warning)
    expect(await legend(page, 'failure-ratio')).toMatchObject({ HighFailureRate: 'above 30%' })
    await page.goto(page.url().replace('mode=call', 'since=12h&until=7h'))
    await shown(() => legend(page, 'failure-ratio')).toMatchObject({ VeryHighFailureRate: 'above 50%' })
    await shown(() => colours(page, 'minutes', 1)).toContain(hatching)
    await page.goto(page.url().replace('since=12h&until=7h', 'since=8h&until=7h'))
    await shown(() => colours(page, 'minutes', 1)).not.toContain(hatching)
    for (const one of ['in-progress', 'duration', 'answer-delay'])
      await shown(() => colours(page, one)).toContain('15,127,134')
  })

  test('are those of the address', async () => {
    const { page, requests } = await openCharts(
      open,
      '?target=production&type=audio&mode=call&receiver_type=user&since=7d&minutes=participant#charts',
    )
    // On a slow machine they are loaded again.
    const filters = { target: 'production', type: 'audio', mode: 'call', receiver_type: 'user' }
    expect(Object.fromEntries(requests[0]!.searchParams)).toEqual({ ...filters, since: '7d' })
    expect(await page.getByRole('combobox', { name: 'Period' }).inputValue()).toBe('7d')
    expect(await page.getByRole('heading', { name: 'Participant minutes' }).isVisible()).toBe(true)
    expect(await page.title()).toBe('Charts – callwatch')
    await page.getByLabel('From (UTC)').fill('2026-08-03T00:00')
    await page.getByLabel('Before (UTC)').fill('2026-08-18T00:00')
    await shown(async () => Object.fromEntries(new URL(page.url()).searchParams)).toMatchObject({
      since: '2026-08-03T00:00:00Z',
      until: '2026-08-18T00:00:00Z',
    })
  })

  test('have tables of the numbers of the API', async () => {
    const { url } = await serveTargets()
    const page = await open(`${url}/?zone=UTC#usage`)
    const [first] = await Promise.all([
      page.waitForResponse(/api\/v1\/series/),
      page.goto(`${url}/?since=1h&target=production#charts`),
    ])
    const series: ReturnType<typeof cannedSeries> = await first.json()
    expect(series.points.length).toBeGreaterThan(11)
    for (const [chart, columns] of [
      [
        'calls',
        (['ended', 'unanswered', 'rejected', 'canceled', 'other', 'lost'] as const).map(
          (status) => (point: (typeof series.points)[number]) => COUNT.format(point.calls[status]),
        ),
      ],
      [
        'in-progress',
        [({ in_progress: calls }: (typeof series.points)[number]) => (calls === null ? '–' : COUNT.format(calls))],
      ],
    ] as const) {
      await page.locator(`#chart-${chart} summary`).click()
      await page.locator(`#chart-${chart} tbody tr`).first().waitFor()
      const rows: string[][] = await page.evaluate(
        `[...document.querySelectorAll('#chart-${chart} tbody tr')].map(({ cells }) => [...cells].map(({ innerText }) => innerText))`,
      )
      const expected = series.points.map((point) => [
        point.at.slice(11, 16) + (Date.parse(point.at) / 1000 + series.step_seconds > NOW ? ' so far' : ''),
        ...columns.map((column) => column(point)),
      ])
      expect(rows.toReversed()).toEqual(expected)
    }
    const sum = series.points.reduce((calls, point) => calls + point.calls.ended, 0)
    expect(sum).toBe(60)
  })

  test('zoom to what is drawn over, and the browser goes back', async () => {
    const { page, requests } = await openCharts(open)
    await brush(page, 'minutes', 0.5, 0.75)
    await page.waitForURL(/since=/)
    const address = new URL(page.url())
    const [since, until] = ['since', 'until'].map((name) => Date.parse(address.searchParams.get(name) ?? '') / 1000)
    expect(address.hash).toBe('#charts')
    // Half a day ago until six hours ago, in whole steps of five minutes.
    expect([Math.abs(since! - (NOW - 12 * 3600)) < 900, Math.abs(until! - (NOW - 6 * 3600)) < 900]).toEqual([
      true,
      true,
    ])
    expect([since! % 300, until! % 300]).toEqual([0, 0])
    await shown(async () => requests.at(-1)?.searchParams.get('since')).toBe(isoTime(since!))
    await shown(() => page.getByRole('combobox', { name: 'Period' }).inputValue()).toBe('')
    expect(await page.getByLabel('From (UTC)').inputValue()).toBe(isoTime(since!).slice(0, 16))
    // Twice what is shown, which stays until the other charts are there.
    await shown(() => time(page)).not.toBe('2026-09-20 14:00–2026-09-21 14:15 UTC')
    const zoomed = page.url()
    await page.getByRole('button', { name: 'Zoom out' }).click()
    await page.waitForURL((url) => url.href !== zoomed)
    const wider = new URL(page.url()).searchParams
    expect(Date.parse(wider.get('until')!) - Date.parse(wider.get('since')!)).toBe((until! - since!) * 2000)
    await page.goBack()
    expect(page.url()).toBe(zoomed)
    await page.goBack()
    expect(new URL(page.url()).search).toBe('')
    await shown(() => page.getByRole('combobox', { name: 'Period' }).inputValue()).toBe('24h')
  })

  test('share a cursor, which follows the pointer and stays where it was clicked', async () => {
    const { page } = await openCharts(open, '?since=24h#charts')
    const before = await time(page)
    expect(before).toBe('2026-09-20 14:00–2026-09-21 14:15 UTC')
    const { x, y, width, height } = (await page.locator('#chart-calls .u-over').boundingBox())!
    await page.mouse.move(x + width / 4, y + height / 2)
    await shown(() => time(page)).toMatch(/^2026-09-20 20:[012]\d–20:[123]\d UTC$/)
    // How many times four pixels each is away; the other charts have it later than the text.
    const away = `[...document.querySelectorAll('[id^=chart-] .u-cursor-x')].map((line) =>
      Math.floor(Math.abs(new DOMMatrix(line.style.transform).m41 - ${width / 4}) / 4))`
    await shown(() => page.evaluate(away)).toEqual([0, 0, 0, 0, 0, 0, 0])
    await page.mouse.move(x - 200, y - 300)
    await shown(() => time(page)).toBe(before)
    await page.mouse.click(x + width / 2, y + height / 2)
    await page.mouse.move(x - 200, y - 300)
    await shown(() => time(page)).toMatch(/^02:[01]\d–02:[123]\d UTC$/)
    const at = (await time(page)).slice(0, 5)
    await page.getByRole('link', { name: 'Calls of this time' }).click()
    await page.waitForURL(/#calls$/)
    expect(new URL(page.url()).searchParams.get('since')).toBe(`2026-09-21T${at}:00Z`)
    expect(await page.getByLabel('Finished from (UTC)').inputValue()).toBe(`2026-09-21T${at}`)
  })

  test('say which alerts fired at the cursor, and what is not covered', async () => {
    const { page } = await openCharts(open)
    const { x, y, width, height } = (await page.locator('#chart-calls .u-over').boundingBox())!
    const move = (hoursAgo: number) => page.mouse.move(x + width * (1 - hoursAgo / 24), y + height / 2)
    await move(4.3)
    await shown(() => page.locator('#cursor').innerText()).toContain('▲ HighFailureRate (production, mode=call)')
    expect(await page.locator('#cursor .critical').innerText()).toBe('▲ VeryHighFailureRate (production)')
    await move(8.5)
    await shown(() => page.locator('#cursor').innerText()).toContain('not covered: production')
    expect(await page.locator('#cursor').innerText()).not.toContain('▲')
    expect(await page.getByRole('table', { name: 'Alerts' }).locator('tbody tr').count()).toBe(2)
    expect(await page.locator('#coverage').innerText()).toContain('Not covered: 50m')
  })

  test('are loaded again while they are visible and last until now', async () => {
    const { url } = await serveTargets()
    const page = await open(`${url}/?zone=UTC#usage`)
    const requests = await cannedCharts(page)
    const setHidden = (hidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: ${hidden} })`)
    // The time of the page stands still, except here.
    await page.clock.install({ time: NOW * 1000 })
    await page.clock.pauseAt((NOW + 60) * 1000)
    const drawn = () => page.clock.runFor(50).then(() => page.locator('#chart-answer-delay canvas').count())
    /** How many requests there are so much later (milliseconds): until one of the test itself. */
    const requestsAfter = async (passed: number) => {
      await page.clock.runFor(passed)
      await page.evaluate("fetch('api/v1/series?since=1h').then((answer) => answer.text())")
      return requests.filter(({ search }) => search !== '?since=1h').length
    }
    await page.goto(`${url}/?since=24h#charts`)
    await shown(drawn).toBe(1)
    expect(await requestsAfter(0)).toBe(1)
    expect(await requestsAfter(20_000)).toBe(1)
    await setHidden(true)
    expect(await requestsAfter(40_000)).toBe(1)
    await setHidden(false)
    expect(await requestsAfter(1500)).toBe(2)
    await page.goto(`${url}/?since=24h&until=1h#charts`)
    await shown(drawn).toBe(1)
    expect(await requestsAfter(0)).toBe(3)
    expect(await requestsAfter(120_000)).toBe(3)
  })

  test('stay when they cannot be loaded again, and say so', async () => {
    const { page } = await openCharts(open)
    await page.route('**/api/v1/series?*', (route) =>
      route.fulfill({ status: 503, json: { detail: 'the store cannot be read now' } }),
    )
    const note = page.locator('#charts-note')
    await page.getByRole('combobox', { name: 'Period' }).selectOption('7d')
    await shown(() => note.innerText()).toMatch(
      /^The charts could not be loaded: the store cannot be read now\. What is shown is of 14:1\d:\d\d UTC\. Try again$/,
    )
    expect(await page.locator('[id^=chart-] canvas').count()).toBe(7)
    // Those of all types are not those of audio calls.
    await page.getByRole('combobox', { name: 'Type' }).selectOption('audio')
    await shown(() => note.innerText()).toBe('The charts could not be loaded: the store cannot be read now. Try again')
    expect(await page.locator('[id^=chart-] canvas').count()).toBe(0)
    await page.unroute('**/api/v1/series?*')
    await cannedCharts(page)
    await page.getByRole('combobox', { name: 'Type' }).selectOption('')
    await shown(() => note.innerText()).toBe('')
    await shown(() => page.locator('[id^=chart-] canvas').count()).toBe(7)
    expect(page.takeComplaints().every((complaint) => complaint.includes('503'))).toBe(true)
  })

  test('say what is wrong with the address', async () => {
    const { url } = await serveTargets()
    const page = await open(`${url}/?since=yesterday#charts`)
    const note = page.locator('#charts-note')
    await shown(() => note.innerText()).toMatch(
      /^The charts could not be loaded: since=yesterday is not a time: expected a date such as .* or how long ago, such as 7d\. Try again$/,
    )
  })

  test('have the times of the chosen zone', async () => {
    const { page } = await openCharts(open, '?since=24h#charts', { timezoneId: 'Asia/Kolkata' })
    expect(await time(page)).toBe('2026-09-20 19:30–2026-09-21 19:45 GMT+5:30')
    await page.locator('#chart-calls summary').click()
    const first = page.locator('#chart-calls tbody th').first()
    expect(await first.innerText()).toBe('19:30 so far')
    const axis = () =>
      page.evaluate(`(() => {
        const canvas = document.querySelector('#chart-calls canvas')
        return canvas.getContext('2d').getImageData(0, canvas.height - 45, canvas.width, 45).data.join()
      })()`)
    const before = await axis()
    await page.getByRole('combobox', { name: 'Times' }).selectOption('UTC')
    await shown(() => first.innerText()).toBe('14:00 so far')
    await shown(async () => (await axis()) === before).toBe(false)
  })

  test('violate no rule of accessibility in light, dark and on a phone', async () => {
    const { page } = await openCharts(open, '?since=10h#charts', { timezoneId: 'Europe/Berlin' })
    await openFolded(page)
    expect(await problemsInAllLooks(page)).toEqual([])
    await page.setViewportSize({ width: 1280, height: 844 })
    await page.getByRole('button', { name: 'Zoom out' }).waitFor()
    const stops = await walk(page)
    expect(stops.map(({ name }) => name)).toEqual(expect.arrayContaining(['Charts', 'Zoom out', 'Calls of this time']))
    expect(stops.filter(({ outline }) => outline === 'none')).toEqual([])
  })
})
