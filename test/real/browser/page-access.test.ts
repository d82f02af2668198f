import { expect, test } from 'vitest'
import { firingOf, RATIO } from '../../kit/alerts/sample-rules.ts'
import { finish, firing, NOW, openCall, POLLED, RATIO_RULE } from '../../kit/metrics/hand-made-target.ts'
import { AUTH, basic, serve, shownTarget } from '../../kit/web/serve.ts'
import { inChromium, shown, type Open, type Opened } from './chromium.ts'
import { contrasts, nameless, overflowing, painted, walk } from './in-page.ts'

const LONG = 'a-target-with-a-name-that-is-as-long-as-names-get-without-any-limit'

/** Serves everything that the page can show: two targets, one of which fails and has no owner, an alert, a silence, and webhooks. */
async function everything() {
  const finished = [finish('ended'), finish('unanswered'), finish('rejected'), finish('canceled'), finish('other')]
  const rule = { ...RATIO_RULE, runbookUrl: '/runbook', match: { mode: 'call' } }
  const calls = [openCall('v1.us.a'), openCall('b', { status: 'initiated', joined: undefined })]
  const owned = shownTarget({ rules: [rule], alerts: [firing(rule)], calls, finished, interval: 60 })
  const failing = shownTarget({
    target: LONG,
    calls: [openCall('c')],
    finished,
    sync: POLLED,
    pollAge: 400,
    problem: `no answer from ${'x'.repeat(80)}`,
  })
  const done = openCall('done', { phase: 'final', finish: finish('rejected') })
  const { url, append } = await serve([{ ...owned, owner: () => 'a7, process 1' }, failing], {
    history: [{ target: 'production', call: done }],
    webhooks: {
      crm: { deliveredAt: NOW - 60 },
      billing: {
        failingSince: NOW - 600,
        problem: `the webhook billing answered 503 (${'x'.repeat(80)})`,
        deadLetters: 2,
      },
      [LONG]: { paused: 'paused by a command' },
    },
    auth: AUTH,
  })
  const headers = { ...basic(), 'content-type': 'application/json' }
  const body = JSON.stringify({ match: { alert: 'HighFailureRate' }, for: '2h', reason: 'a carrier outage' })
  await fetch(`${url}/api/v1/silences`, { method: 'POST', headers, body })
  const window = { from: NOW - 900, to: NOW }
  await append(firingOf(RATIO, 'production', NOW, { kind: 'resolved', value: 0.1, threshold: 0.2, peak: 0.5, window }))
  return `${url}/`
}

async function openEverything(open: Open, options: Parameters<Open>[1] = {}): Promise<Opened> {
  const httpCredentials = { ...AUTH, send: 'always' as const }
  const page = await open(await everything(), { httpCredentials, ...options })
  await page.locator('#feed').waitFor()
  return page
}

inChromium('the page', (open) => {
  test('can be used with the keyboard alone, and shows the focus', async () => {
    const page = await openEverything(open)
    const stops = await walk(page)
    expect(stops.map(({ name }) => name)).toEqual([
      'Skip to content',
      'Overview',
      'Alerts',
      'Charts',
      'Calls',
      'Usage',
      'Silences',
      'Target',
      'production: 42.5% of 40 ringing calls failed in 15 minutes, mostly rejected',
      'Silence HighFailureRate, production',
      'Runbook',
      'The chart as a table',
      'Target or alert',
      'State',
      'Status of each target, worst first',
      'Target',
      'Failed in 15m',
      'Calls in the last hour',
      'In progress',
      'Last poll',
      LONG,
      'production',
      'Share of the finished calls of each window that failed, by reason',
      'Calls in progress by mode and type',
      'Delivery of each event webhook',
      'Pause',
      'Skip the feed',
      'Live feed of transitions',
    ])
    expect(stops.filter(({ outline }) => outline === 'none').map(({ name }) => name)).toEqual([])
  })

  test('does the same with the keyboard as with a mouse', async () => {
    const page = await openEverything(open)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await shown(() => page.evaluate('document.activeElement.id')).toBe('content')
    await page.getByRole('button', { name: 'Pause' }).focus()
    await page.keyboard.press('Space')
    expect(await page.getByRole('button', { name: 'Resume' }).getAttribute('aria-pressed')).toBe('true')
    await page.getByRole('link', { name: 'Skip the feed' }).press('Enter')
    await shown(() => page.evaluate('document.activeElement.id')).toBe('after-feed')
    await page.getByText('The chart as a table').focus()
    await page.keyboard.press('Enter')
    await page.getByRole('table', { name: 'Finished calls per minute' }).waitFor()
    await page.getByRole('combobox', { name: 'Target' }).focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\?target=production$/)
  })

  test('has the focus in the view to which the key / leads, and after Escape where it was', async () => {
    const page = await openEverything(open)
    const focused = () => page.evaluate('document.activeElement.id || document.activeElement.textContent')
    await page.getByRole('button', { name: 'Pause' }).focus()
    await page.keyboard.press('/')
    await shown(focused).toBe('jump')
    await page.keyboard.press('Escape')
    await shown(focused).toBe('Pause')
    expect(await page.locator('#jump').count()).toBe(0)
    await page.keyboard.press('/')
    await page.keyboard.type('charts')
    await page.keyboard.press('Enter')
    await page.waitForURL(/#charts$/)
    await shown(focused).toBe('content')
    expect(await page.locator('#jump').count()).toBe(0)
  })

  test('shows and reads times in the zone of the reader', async () => {
    const page = await openEverything(open, { timezoneId: 'America/New_York' })
    expect(await page.locator('#per-minute .title').textContent()).toMatch(/10:\d\d EDT, so far.*, in all\s*$/)
    await page.goto(`${new URL(page.url()).origin}/#alerts`)
    expect(await page.locator('#alerts [data-label^=Since]').textContent()).toMatch(/^10:10:20 /)
    await page.goto(`${new URL(page.url()).origin}/?since=1h#calls`)
    const from = page.getByLabel('Finished from (EDT)')
    await from.waitFor()
    await shown(() => page.locator('#explorer-note').textContent()).toMatch(/As of 10:1\d:\d\d EDT\.\s*$/)
    expect(await from.inputValue()).toMatch(/^2026-09-21T09:1/)
    await from.fill('2026-09-21T09:00')
    await from.dispatchEvent('change')
    const since = encodeURIComponent('2026-09-21T13:00:00.000Z')
    await page.locator(`a[href*="since=${since}&"]`).first().waitFor()
  })

  test('has names for a screen reader', async () => {
    const page = await openEverything(open)
    expect(await nameless(page)).toEqual([])
    expect(await page.locator('html').getAttribute('lang')).toBe('en')
    for (const landmark of ['banner', 'main'] as const) expect(await page.getByRole(landmark).count()).toBe(1)
    const regions = ['At a glance', 'Webhooks of events', 'Live feed']
    for (const name of regions) {
      expect(await page.getByRole('region', { name, exact: true }).count()).toBeGreaterThan(0)
    }
    const chart = page.getByRole('img', { name: /^Chart: Finished calls/ })
    expect(await chart.count()).toBe(1)
    const announced = await page.getByRole('status').textContent()
    expect(announced).toContain(`${LONG}: no successful poll since`)
    expect(announced).toContain('Alert HighFailureRate, warning, on production.')
  })

  test('has enough contrast in light and in dark', async () => {
    const page = await openEverything(open)
    const target = page.getByRole('combobox', { name: 'Target' })
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
      await shown(ground).toBe(colorScheme === 'light' ? 'rgb(243, 245, 248)' : 'rgb(14, 18, 23)')
      // Stale data are faint, but not the name of a target without owner.
      await target.selectOption(LONG)
      await page.locator('#target-facts').getByText('no owner').waitFor()
      const owner = (await contrasts(page)).filter(({ text }) => text === 'no owner')
      expect(owner.map(({ contrast }) => contrast >= 4.5)).toEqual([true])
      await target.selectOption('production')
      await shown(() => page.locator('.page').getAttribute('class')).toBe('page')
      const measured = await contrasts(page)
      expect(measured.length).toBeGreaterThan(40)
      expect(measured.filter(({ contrast }) => contrast < 4.5)).toEqual([])
    }
  })

  test('does not scroll sideways on narrow and wide screens, and no cell covers another one', async () => {
    const page = await openEverything(open)
    for (const width of [360, 768, 1440, 3840]) {
      await page.setViewportSize({ width, height: 740 })
      await painted(page)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      expect(await overflowing(page)).toEqual([])
    }
  })

  test('keeps the selected target in its address', async () => {
    const page = await openEverything(open)
    const text = (selector: string) => page.locator(selector).textContent()
    expect(await text('#calls-now')).toBe('3')
    expect(await page.locator('.banner li').count()).toBe(1)
    await page.getByRole('combobox', { name: 'Target' }).selectOption('production')
    await page.reload()
    await page.locator('main[data-commits]').waitFor()
    expect(await text('#calls-now')).toBe('2')
    expect(await page.locator('.banner').count()).toBe(0)
    await page.goto(`${new URL(page.url()).origin}/?target=production`)
    await shown(() => text('#calls-now')).toBe('2')
    await page.goto(`${new URL(page.url()).origin}/#target=gone`)
    await page.getByText('There is no target gone.').first().waitFor()
  })

  test('shows targets while the store is unavailable', async () => {
    const storeProblem = 'the database db1 cannot be reached'
    const target = shownTarget({ sync: POLLED, problem: storeProblem, pollAge: 900 })
    const page = await open((await serve([target], { storeProblem })).url)
    await page.locator('#target-facts meter').first().waitFor()
    expect(await page.locator('.banner li').first().innerText()).toBe('The database db1 cannot be reached.')
    expect(page.takeComplaints().filter((complaint) => !complaint.includes('503'))).toEqual([])
  })
})
