import { expect, test } from 'vitest'
import { LOOKED, NOW, finish, firing, openCall, RATIO_RULE } from '../../metrics/hand-made-target.ts'
import { serve, watchedTarget } from '../serve.ts'
import { inChromium, type Open, type Opened } from './chromium.ts'
import { contrasts, nameless, walk } from './in-page.ts'

const AUTH = { username: 'ops', password: 'secret' }
const LONG = 'a-target-with-a-name-that-is-as-long-as-names-get-when-nobody-stops-them'

/** Two targets, of which one fails, an alert, a silence and a call: everything that the page can show. */
async function everything() {
  const finished = [finish('ended'), finish('unanswered'), finish('rejected'), finish('canceled'), finish('other')]
  const rule = { ...RATIO_RULE, runbookUrl: '/runbook', match: { mode: 'call' } }
  const budget = {
    ...RATIO_RULE,
    name: 'Budget',
    signal: { name: 'budget_minutes', limit: 1000, timezone: 'UTC' } as const,
  }
  const rules = [rule, budget]
  const calls = [openCall('v1.us.a'), openCall('b', { status: 'initiated', joined: undefined })]
  const { url, feed } = await serve(
    [
      watchedTarget({ rules, alerts: [firing(rule)], calls, finished, facts: LOOKED }),
      watchedTarget({
        target: LONG,
        calls: [openCall('c')],
        finished,
        facts: LOOKED,
        lookAge: 400,
        problem: `no answer from ${'x'.repeat(80)}`,
      }),
    ],
    [{ target: 'production', call: openCall('done', { phase: 'final', finish: finish('rejected') }) }],
    AUTH,
  )
  const headers = { authorization: `Basic ${btoa('ops:secret')}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ match: { alert: 'HighFailureRate' }, for: '2h', reason: 'a carrier at work' })
  await fetch(`${url}/api/v1/silences`, { method: 'POST', headers, body })
  feed.publish('alert', () => ({
    at: '2026-09-21T14:13:20.000Z',
    alert: 'X',
    target: 'production',
    state: 'resolved',
    value: 0.1,
    threshold: 0.2,
    signal: 'failure_ratio',
    severity: 'warning',
  }))
  return `${url}/`
}

async function openEverything(open: Open, options: Parameters<Open>[1] = {}): Promise<Opened> {
  const httpCredentials = { ...AUTH, send: 'always' as const }
  const page = await open(await everything(), { httpCredentials, ...options })
  await page.locator('#finished-calls tbody tr').first().waitFor()
  return page
}

inChromium('the page', (open) => {
  test('is walked through with the keyboard alone, and what has the focus is seen', async () => {
    const page = await openEverything(open)
    const stops = await walk(page)
    expect(stops.map(({ name }) => name)).toEqual([
      'Skip to the numbers',
      'Target',
      'Alerts',
      'runbook',
      'The chart as a table',
      'Failure ratio',
      'Failure ratio by rule',
      'Health of the targets',
      'What was counted of each target',
      'Pause',
      'Live feed of transitions',
      'Status',
      'Since',
      'Refresh',
      'Download CSV',
      'Finished calls',
    ])
    expect(stops.filter(({ outline }) => outline === 'none').map(({ name }) => name)).toEqual([])
  })

  test('tells in its feed what became of an alert', async () => {
    const page = await openEverything(open)
    const [line] = await page.locator('#feed li.alert').allInnerTexts()
    expect(line?.replaceAll(/\s+/g, ' ')).toMatch(/^\S+ X resolved on production, 10.0 % against 20.0 %$/)
  })

  test('does with the keyboard what it does with a mouse', async () => {
    const page = await openEverything(open)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.id')).toBe('content')
    await page.getByRole('button', { name: 'Pause' }).focus()
    await page.keyboard.press('Space')
    expect(await page.getByRole('button', { name: 'Resume' }).getAttribute('aria-pressed')).toBe('true')
    await page.getByText('The chart as a table').focus()
    await page.keyboard.press('Enter')
    expect(await page.getByRole('table', { name: 'Finished calls per minute' }).isVisible()).toBe(true)
    await page.getByRole('combobox', { name: 'Target' }).focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForFunction(`location.hash === '#target=production'`)
  })

  test('never shows finished calls of another filter than that above them', async () => {
    const page = await openEverything(open)
    const rows = page.locator('#finished-calls tbody tr')
    await page.getByRole('combobox', { name: 'Since' }).selectOption('time')
    expect(await page.getByLabel('Time (UTC)').inputValue()).toBe('2026-09-21T13:13')
    expect(await rows.count()).toBe(1)
    await page.getByLabel('Time (UTC)').fill('')
    await rows.first().waitFor({ state: 'detached' })
    expect(await page.getByRole('link', { name: 'Download CSV' }).count()).toBe(0)
    await page.getByRole('combobox', { name: 'Since' }).selectOption('86400')
    await rows.first().waitFor()
  })

  test('names its parts to a screen reader', async () => {
    const page = await openEverything(open)
    expect(await nameless(page)).toEqual([])
    expect(await page.locator('html').getAttribute('lang')).toBe('en')
    for (const landmark of ['banner', 'main'] as const) expect(await page.getByRole(landmark).count()).toBe(1)
    const regions = ['At a glance', 'Alerts', 'Silences', 'Targets', 'Live feed', 'Finished calls']
    for (const name of regions) {
      expect(await page.getByRole('region', { name, exact: true }).count()).toBeGreaterThan(0)
    }
    const chart = page.getByRole('img', { name: /^Chart of the finished calls/ })
    expect(await chart.count()).toBe(1)
    const announced = await page.getByRole('status').textContent()
    expect(announced).toContain(`${LONG}: no good poll since`)
    expect(announced).toContain('Alert HighFailureRate, warning, on production.')
  })

  test.each(['light', 'dark'] as const)('is read easily where %s is preferred', async (colorScheme) => {
    const page = await openEverything(open, { colorScheme })
    // What is old is faint on purpose.
    await page.getByRole('combobox', { name: 'Target' }).selectOption('production')
    await page.waitForFunction(`document.querySelector('.page').className === 'page'`)
    const measured = await contrasts(page)
    expect(measured.length).toBeGreaterThan(40)
    expect(measured.filter(({ contrast }) => contrast < 4.5)).toEqual([])
    const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor')
    expect(ground).toBe(colorScheme === 'light' ? 'rgb(243, 245, 248)' : 'rgb(14, 18, 23)')
  })

  test.each([360, 768, 1440, 3840])('of %i pixels does not scroll sideways', async (width) => {
    const page = await openEverything(open, { viewport: { width, height: 740 } })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
  })

  test('adds up its targets, or shows the one that its address names', async () => {
    const page = await openEverything(open)
    const text = (selector: string) => page.locator(selector).textContent()
    expect(await text('#calls-now')).toBe('3')
    expect(await text('[data-window="15m"] [data-cell=n]')).toBe('10')
    expect(await text('[data-window="15m"] [data-cell=any]')).toBe('60.0\u00a0%')
    expect(await page.locator('.banner li').count()).toBe(1)
    await page.getByRole('combobox', { name: 'Target' }).selectOption('production')
    await page.reload()
    await page.locator('main > *').first().waitFor()
    expect(await text('#calls-now')).toBe('2')
    expect(await text('[data-window="15m"] [data-cell=n]')).toBe('5')
    // The other one's trouble is none of this one's.
    expect(await page.locator('.banner').count()).toBe(0)
  })

  test('tells how far the first look has come, and of a target that is not there', async () => {
    const refused = watchedTarget({ target: 'staging', facts: {}, problem: 'the key is not known' })
    const { url } = await serve([
      { ...watchedTarget({ facts: {} }), progress: () => ({ done: 12, of: 80 }) },
      { ...refused, progress: () => ({ done: 0, of: undefined }) },
    ])
    const page = await open(`${url}/`)
    const banner = (await page.locator('.banner li').allTextContents()).map((line) => line.trim())
    expect(banner).toEqual([
      'production: waiting for the first look. (12 of 80 pages read)',
      'staging: waiting for the first look. The key is not known.',
    ])
    await page.goto(`${url}/#target=gone`)
    await page.getByText('There is no target gone.').first().waitFor()
  })

  test('shows alerts, thresholds, silences and budgets', async () => {
    const page = await openEverything(open)
    const alert = await page.locator('[data-alert=HighFailureRate]').textContent()
    for (const text of ['firing', 'warning', '42.5\u00a0%', 'above 30.0\u00a0%', '50.0\u00a0%', '40', '14:10:20']) {
      expect(alert).toContain(text)
    }
    // The ratio that the rule judges is that of its own calls, and has the threshold drawn into it.
    const judged = page.locator('[data-judged="production HighFailureRate"]')
    expect((await judged.textContent())?.replaceAll(/\s+/g, ' ').trim()).toMatch(
      /^HighFailureRate production, any, 15 min, mode=call, n ≥ 20 ?5 ?too few ?above 30.0 % ?clears at 20.0 %$/,
    )
    expect(await judged.locator('line').getAttribute('x1')).toBe('30')
    expect(await page.locator('#silences li').textContent()).toMatch(
      /^alert=HighFailureRate until 16:13:20 UTC: a carrier at work \(silence 1\)$/,
    )
    expect(await page.locator('#minutes-month + dd').textContent()).toContain('Budget fires above 300')
    expect(new Date(NOW * 1000).toISOString()).toBe('2026-09-21T14:13:20.000Z')
  })
})
