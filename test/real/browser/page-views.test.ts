import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { finish, finishedCall, NOW, openCall, POLLED } from '../../kit/metrics/hand-made-target.ts'
import { labelsOf } from '../../../src/ledger/call.ts'
import { MARK } from '../../../src/ledger/tracked-call.ts'
import { serve, shownTarget, type ServeOptions } from '../../kit/web/serve.ts'
import { inChromium, shown, type Open } from './chromium.ts'
import { layoutShift, openFolded, painted, problemsInAllLooks, walk } from './in-page.ts'

const VIDEO = labelsOf('video', 'meet', 'group')
const done = finishedCall('done', { finish: finish('rejected', 5), marks: MARK.recordingSeen })
const late = finishedCall('late/1', {
  finish: { ...finish('ended', 900), began: NOW - 930, known: NOW - 100 },
  status: 'rejected',
  firstSeen: NOW - 920,
  initiatedAt: NOW - 930,
  startedAt: NOW - 925,
})
/** 250 calls that ended, one a second, and 20 video calls before them. */
const MANY = [
  done,
  ...Array.from({ length: 250 }, (_, i) => finishedCall(`call-${i}`, { finish: finish('ended', 10 + i) })),
  ...Array.from({ length: 20 }, (_, i) =>
    finishedCall(`video-${i}`, { labels: VIDEO, finish: { ...finish('ended', 300 + i), labels: VIDEO } }),
  ),
  late,
].map((call) => ({ target: 'production', call }))

async function serveCalls(options: ServeOptions = {}) {
  const calls = [openCall('open-1'), openCall('open-2', { status: 'initiated', joined: undefined })]
  const served = await serve([shownTarget({ calls, sync: POLLED }), shownTarget({ target: 'staging', sync: POLLED })], {
    history: [...MANY, { target: 'staging', call: finishedCall('staged') }],
    ...options,
  })
  const transition = { call: done, from: 'ongoing', to: 'rejected', observed: true, at: NOW - 2 } as const
  await served.log({ transitions: [transition], corrections: [], details: [] })
  return served
}

const note = (page: Page) => page.locator('#explorer-note').innerText()
const choice = (page: Page, name: string) => page.getByRole('combobox', { name, exact: true })
const rows = (page: Page) => page.locator('#explorer tbody tr')

/** Opens a view of a page that has calls. */
async function openView(open: Open, address: string, options: Parameters<Open>[1] = {}) {
  const { url } = await serveCalls()
  return open(`${url}/${address}`, options)
}

inChromium('the views of the page', (open) => {
  describe('the calls', () => {
    test('are those of the address, and the filters show it', async () => {
      const page = await openView(open, '?target=production&type=video&mode=meet&receiver_type=group#calls')
      await shown(() => note(page)).toMatch(/^20 calls, all that match\. As of 14:1\d:\d\d UTC\.$/)
      for (const [name, value] of [
        ['Target', 'production'],
        ['Type', 'video'],
        ['Mode', 'meet'],
        ['Receiver', 'group'],
      ] as const) {
        expect(await choice(page, name).inputValue()).toBe(value)
      }
      expect(await rows(page).first().innerText()).toContain('video-0')
    })

    test('are put into the address by each filter, which opens the same calls again', async () => {
      const page = await openView(open, '?target=production#calls', { timezoneId: 'Europe/Berlin' })
      await rows(page).first().waitFor()
      await choice(page, 'Status').selectOption('ended')
      await choice(page, 'Recording').selectOption('false')
      await page.getByLabel('Session id begins with').fill('call-1')
      await page.keyboard.press('Tab')
      await page.getByLabel('Finished from (GMT+2)').fill('2026-09-21T16:10')
      await page.getByLabel('Finished before (GMT+2)').fill('2026-09-21T16:12')
      // Of the 111 calls, those that finished between 80 and 200 s ago.
      await shown(() => note(page)).toMatch(/^91 calls, all/)
      const address = new URL(page.url())
      expect(address.hash).toBe('#calls')
      expect(Object.fromEntries(address.searchParams)).toEqual({
        target: 'production',
        status: 'ended',
        has_recording: 'false',
        session_id: 'call-1',
        since: '2026-09-21T14:10:00Z',
        until: '2026-09-21T14:12:00Z',
      })
      await page.reload()
      await shown(() => note(page)).toMatch(/^91 calls, all/)
      expect(await page.getByLabel('Finished from (GMT+2)').inputValue()).toBe('2026-09-21T16:10')
      await page.getByRole('link', { name: 'Clear filters' }).click()
      await shown(() => note(page)).toMatch(/^100 calls, the newest/)
    })

    test('have a filter that keeps what is being typed while the page is refreshed', async () => {
      const page = await openView(open, '#calls')
      await rows(page).first().waitFor()
      const typed = page.getByLabel('Session id begins with')
      await typed.fill('call-1')
      const refreshed = page.waitForRequest(/\/api\/v1\/events/)
      await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
      await refreshed
      await painted(page)
      expect(await typed.inputValue()).toBe('call-1')
      await typed.press('Enter')
      await shown(async () => new URL(page.url()).searchParams.get('session_id')).toBe('call-1')
      await page.getByRole('link', { name: 'Clear filters' }).click()
      await shown(() => typed.inputValue()).toBe('')
    })

    test('are added until the history has no older ones, each once', async () => {
      const page = await openView(open, '?target=production#calls')
      for (const [calls, all] of [
        [100, 'the newest; there are more'],
        [200, 'the newest; there are more'],
        [272, 'all that match'],
      ] as const) {
        await shown(() => note(page)).toContain(`${calls} calls, ${all}.`)
        if (all !== 'all that match') await page.getByRole('button', { name: 'Older calls' }).click()
      }
      expect(await page.getByRole('button', { name: 'Older calls' }).count()).toBe(0)
      const ids = await page.locator('#explorer td.session').allInnerTexts()
      expect(new Set(ids).size).toBe(272)
    })

    test('are those in progress, to which no time applies', async () => {
      const page = await openView(open, '?status=in_progress&since=1h#calls')
      await shown(() => note(page)).toMatch(/^2 calls, all/)
      expect(await page.getByLabel('Finished from').isDisabled()).toBe(true)
      await choice(page, 'Status').selectOption('initiated')
      await shown(() => page.locator('#explorer td.session').allInnerTexts()).toEqual(['open-2'])
    })

    test('are downloaded as CSV and NDJSON, all of the selection', async () => {
      const page = await openView(open, '?target=production&status=ended#calls')
      await rows(page).first().waitFor()
      for (const [name, file, lines] of [
        ['Download CSV', /^callwatch-calls-production-[^-]+-\d\d-.*\.csv$/, 272],
        ['Download NDJSON', /^callwatch-calls-production-[^-]+-\d\d-.*\.ndjson$/, 271],
      ] as const) {
        const downloading = page.waitForEvent('download')
        await page.getByRole('link', { name }).click()
        const download = await downloading
        expect(download.suggestedFilename()).toMatch(file)
        expect(
          readFileSync(await download.path(), 'utf8')
            .trim()
            .split('\n'),
        ).toHaveLength(lines)
      }
    })

    test('are searched for further while the server needs more than one response', async () => {
      let reads = Infinity
      // The first queries take so long that the first response searches only a part of the history.
      const onRead = () => {
        const until = performance.now() + (++reads > 12 ? 0 : 700)
        while (performance.now() < until);
      }
      const old = [30, 20, 10].map((hours) =>
        finishedCall(`old-${hours}`, { finish: finish('canceled', hours * 3600) }),
      )
      const { url } = await serveCalls({ onRead, history: old.map((call) => ({ target: 'production', call })) })
      reads = 0
      const page = await open(`${url}/?status=canceled#calls`)
      await shown(() => note(page)).toMatch(/^3 calls, all that match/)
      const requests = `performance.getEntriesByType('resource').filter(({ name }) => name.includes('cursor=')).length`
      expect(await page.evaluate(requests)).toBeGreaterThan(0)
    })

    test('say what is wrong with the address, and that none match', async () => {
      const page = await openView(open, '?type=fax#calls')
      await shown(() => note(page)).toBe(
        'The calls could not be loaded: type must be one of audio, video, other. Try again',
      )
      expect(await choice(page, 'Type').inputValue()).toBe('fax')
      await choice(page, 'Type').selectOption('other')
      await shown(() => note(page)).toMatch(/^No call matches\./)
      await page.goto(page.url().replace('type=other', 'since=yesterday'))
      await shown(() => note(page)).toMatch(
        /^The calls could not be loaded: since=yesterday is not a time: expected a date such as .* or how long ago, such as 7d\. Try again$/,
      )
      expect(page.takeComplaints().filter((complaint) => !complaint.includes('400'))).toEqual([])
    })
  })

  describe('the page of a call', () => {
    test('is opened by its row without a new document, and by its address', async () => {
      const page = await openView(open, '?target=production&zone=UTC#calls')
      await page.evaluate('window.isSame = true')
      await page.getByRole('link', { name: 'done' }).click()
      await page.waitForURL(/\?target=production&call_id=done&zone=UTC#call$/)
      await page.getByText('/ production / done').waitFor()
      expect(await page.evaluate('[window.isSame, document.activeElement.id, document.title]')).toEqual([
        true,
        'content',
        'Call – callwatch',
      ])
      await page.getByText('How callwatch saw it').click()
      expect(await page.locator('#call-events li').innerText()).toMatch(/ongoing → rejected\s+seen 14:13:18/)
      await page.goBack()
      await shown(() => note(page)).toMatch(/^100 calls/)
      await page.goForward()
      await page.reload()
      await page.getByText('/ production / done').waitFor()
    })

    test('shows an event of the call as soon as it is logged', async () => {
      const { url, log } = await serveCalls()
      const page = await open(`${url}/?target=production&call_id=done#call`)
      await page.getByText('How callwatch saw it').click()
      const events = page.locator('#call-events li')
      await shown(() => events.count()).toBe(1)
      const correction = { call: done, before: { ...done, minutes: [0.2, 0, 0, 0] }, at: NOW }
      await log({ transitions: [], corrections: [correction], details: [] })
      await shown(() => events.count()).toBe(2)
      expect(await events.last().innerText()).toContain('corrected: audio 0.2 → 0.5 min')
    })

    test('shows another call of its session as soon as the call has an event', async () => {
      const { url, log } = await serveCalls()
      const page = await open(`${url}/?target=production&call_id=done#call`)
      await page.getByText('How callwatch saw it').waitFor()
      const reloaded = page.waitForRequest(/\/api\/v1\/call\?target=production&call_id=done$/)
      const call = openCall('cw:later', { session: 'done' })
      const transition = { call, from: 'none', to: 'ongoing', observed: true, at: NOW } as const
      await log({ transitions: [transition], corrections: [], details: [] })
      await reloaded
    })

    test('links to the other calls of its session', async () => {
      const again = finishedCall('cw:1', { session: 'done', finish: finish('ended', 3) })
      const { url } = await serveCalls({
        history: [done, again].map((call) => ({ target: 'production', call })),
      })
      const page = await open(`${url}/?target=production&call_id=cw:1#call`)
      await page.locator('#call-others tbody a').click()
      await page.getByText('/ production / done').waitFor()
      await shown(() => page.locator('#call-title').innerText()).toContain('rejected')
      await page.locator('#call-others tbody a').click()
      await page.getByText('/ production / cw:1').waitFor()
    })

    test('has an older address, and says what came late and what was corrected', async () => {
      const page = await openView(open, '?target=production&session_id=late%2F1#call')
      await page.getByText('How callwatch saw it').click()
      await shown(() => page.locator('#call-facts').innerText()).toContain('noticed late 13m')
      expect(await page.locator('#call-corrections tbody tr').first().innerText()).toMatch(
        /^Status\s+ended\s+rejected$/,
      )
    })

    test('says that the call is not known', async () => {
      const page = await openView(open, '?target=production&call_id=nobody#call')
      await shown(() => page.locator('#call-note').innerText()).toContain(
        'no call nobody of target production is known',
      )
      expect(page.takeComplaints().filter((complaint) => !complaint.includes('404'))).toEqual([])
    })
  })

  describe('the usage', () => {
    const table = (page: Page) => page.locator('#usage-rows table')

    test('is that of the address, by its keys', async () => {
      const page = await openView(open, '?since=1d&by=target,type#usage')
      await shown(() => table(page).locator('tbody tr').count()).toBe(4)
      const texts = await table(page).locator('tbody tr').allInnerTexts()
      expect(texts.map((text) => text.split(/\s+/).slice(0, 4).join(' '))).toEqual([
        'production audio 252 251',
        'production video 20 20',
        'staging audio 1 1',
        'all 273 272 0',
      ])
      expect(await page.locator('#used-calls + .soft').innerText()).toBe('not compared')
      expect(await page.locator('#coverage').innerText()).toContain('Not covered: 1d')
      await page.getByText('Which times these are').click()
      await page.getByRole('table', { name: 'Times that are not covered' }).waitFor()
    })

    test('follows period, keys, target and zone, all in the address', async () => {
      const page = await openView(open, '#usage', { timezoneId: 'Europe/Berlin' })
      const title = () => page.locator('#usage-report-title').innerText()
      await shown(title).toBe('Calls in September 2026 so far (Europe/Berlin)')
      expect(await choice(page, 'Period').inputValue()).toBe('month')
      await choice(page, 'Times').selectOption('UTC')
      await shown(title).toBe('Calls in September 2026 so far (UTC)')
      const [before, after] = ['Month before', 'Month after'].map((name) => page.getByRole('button', { name }))
      expect(await after!.isDisabled()).toBe(true)
      await before!.click()
      await before!.click()
      await shown(title).toBe('Calls in July 2026 (UTC)')
      await after!.click()
      await shown(title).toBe('Calls in August 2026 (UTC)')
      expect(await choice(page, 'Period').inputValue()).toBe('last-month')
      await after!.click()
      await shown(title).toBe('Calls in September 2026 so far (UTC)')
      await page.getByRole('checkbox', { name: 'day' }).check()
      await page.getByRole('checkbox', { name: 'target' }).uncheck()
      await choice(page, 'Target').selectOption('production')
      await choice(page, 'Period').selectOption('7d')
      await shown(async () => Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
        target: 'production',
        by: 'day',
        since: '7d',
        zone: 'UTC',
      })
      await shown(() => table(page).locator('tbody tr').allInnerTexts()).toHaveLength(1)
      expect(await table(page).locator('tbody th').innerText()).toBe('2026-09-21')
      const downloading = page.waitForEvent('download')
      await page.getByRole('link', { name: 'Download CSV' }).click()
      const download = await downloading
      expect(download.suggestedFilename()).toBe('callwatch-usage-production-2026-09-14-to-2026-09-21-UTC.csv')
      const csv = readFileSync(await download.path(), 'utf8').split('\r\n')
      expect(csv[1]).toMatch(/^part,2026-09-21,272,271,/)
      expect(csv[2]).toMatch(/^total,,272,271,/)
      // Only the last of the days has calls.
      await page.locator('#usage-days canvas').waitFor()
      await page.getByText('The chart as a table').click()
      await page.locator('#usage-days tbody tr').first().waitFor()
      expect(await page.locator('#usage-days tbody tr').allInnerTexts()).toHaveLength(8)
      await choice(page, 'Period').selectOption('last-month')
      await shown(() => page.locator('#usage-note').innerText()).toContain('No call finished in this period.')
      expect(await page.locator('#usage-rows, #usage-days, .tiles').count()).toBe(0)
    })

    test('by day, or by day, type and mode of fewer calls, fits on a screen of 1440 px', async () => {
      const page = await openView(open, '#calls', { viewport: { width: 1440, height: 900 } })
      const lacking = async (by: string, times: number, late: number, known: number) => {
        await page.unrouteAll()
        await page.route('**/api/v1/report?*', async (route) => {
          const report = await (await route.fetch()).json()
          const used = { calls: 38_123 * times, failure_ratio: 0.1, participant_minutes: 915_100 * times }
          const amounts = { ...used, user_minutes: 237_068 * times }
          const media = { audio: 91_234 * times, video: 81_234 * times }
          const rare = { unanswered: 3341 * times, rejected: 2089 * times, canceled: 1305 * times, other: 0, lost: 0 }
          const one = {
            calls: { total: amounts.calls, ended: 31_388 * times, ...rare },
            minutes: media,
            participant_minutes: { ...media, total: 915_100 * times },
            user_minutes: amounts.user_minutes,
            noticed_late: late,
            blind_seconds: 9000,
            not_joined_ratio: 0.251,
            duration_seconds: { mean: 477, p50: 240, p95: 1707 },
            compared: { targets: 1, days: 31, known_days: known, now: amounts, before: amounts },
          }
          const rows = ['audio', 'video'].map((type) => ({ ...report.rows[0], type, mode: 'presenter', ...one }))
          await route.fulfill({ json: { ...report, rows, total: { ...report.total, ...one } } })
        })
        await page.goto(`${new URL(page.url()).origin}/?since=7d&by=${by}#usage`)
        const table = page.locator('#usage-rows .wide')
        await table
          .getByText((38_123 * times).toLocaleString('en'))
          .first()
          .waitFor()
        return table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
      }
      expect(await lacking('day', 10, 1234, 30)).toBe(0)
      expect(await lacking('day,type,mode', 1, 0, 0)).toBe(0)
    })

    test('of a month is one sheet of paper, with its numbers and its chart, and without what is there to be clicked', async () => {
      const names = Array.from({ length: 12 }, (_, i) => `region-${i}`)
      const history = names.flatMap((target, i) =>
        Array.from({ length: 40 + 20 * i }, (_, n) => {
          const at = NOW - (n % 45) * 86_400 - 600
          const failed = n % (4 + i) === 0
          const call = finishedCall(`${target} ${n}`, {
            endedAt: at,
            finish: { ...finish(failed ? 'rejected' : 'ended'), at },
          })
          return { target, call }
        }),
      )
      const { url } = await serve(names.map((target) => shownTarget({ target, sync: POLLED })), { history, created: NOW - 30 * 86_400 }) // oxfmt-ignore
      const page = await open(`${url}/#usage`)
      await page.locator('#usage-days canvas').waitFor()
      const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1')
      expect(pdf.match(/\/Type\s*\/Page\b/g)).toHaveLength(1)
      await page.emulateMedia({ media: 'print' })
      const isShown = (part: string) => page.locator(part).first().isVisible()
      expect(await Promise.all(['.tiles', '#usage-days canvas', '#usage-rows .total', '#coverage'].map(isShown))).toEqual([true, true, true, true]) // oxfmt-ignore
      expect(await Promise.all(['nav', '.filters', '#usage-report button', 'summary'].map(isShown))).toEqual([false, false, false, false]) // oxfmt-ignore
    })
  })

  test('link to each other, with the target and the zone', async () => {
    const page = await openView(open, '?zone=UTC#target=production', { timezoneId: 'Europe/Berlin' })
    await shown(() => page.locator('.now').innerText()).toMatch(/UTC/)
    await page.getByRole('link', { name: 'Calls' }).click()
    await page.waitForURL(/\?target=production&zone=UTC#calls$/)
    const current = page.locator('nav [aria-current=page]')
    await shown(() => current.innerText()).toBe('Calls')
    await page.getByRole('link', { name: 'Usage' }).click()
    await page.waitForURL(/\?target=production&zone=UTC#usage$/)
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.waitForURL(/\?target=production&zone=UTC$/)
    await shown(() => choice(page, 'Target').inputValue()).toBe('production')
    // An address that is changed by hand.
    await page.goto(`${page.url()}#usage`)
    await page.locator('nav [aria-current=page]', { hasText: 'Usage' }).waitFor()
  })

  test.each([
    ['#charts', '#charts-note'],
    ['#calls', '#explorer-note'],
    ['?target=production&call_id=late%2F1#call', '#call-note'],
    ['#usage', '#usage-note'],
  ])('is a skeleton until it is loaded, and says what failed and tries it again: %s', async (address, at) => {
    const { url } = await serveCalls()
    const page = await open(`${url}/#alerts`)
    const { promise: seen, resolve: isSeen } = Promise.withResolvers<void>()
    await page.route(/api\/v1\/(?:calls?|series|report)/, async (route) => {
      await seen
      await route.continue()
    })
    await page.goto(`${url}/${address}`)
    await page.locator(`${at} .skeleton`).waitFor()
    isSeen()
    await shown(() => page.locator(`${at} .skeleton`).count()).toBe(0)
    expect(await layoutShift(page)).toBeLessThan(0.1)
    await page.unrouteAll()
    await page.route(/api\/v1\/(?:calls?|series|report)/, (route) => route.abort())
    await page.reload()
    await page.locator(at).getByText('could not be loaded: callwatch cannot be reached.').waitFor()
    await page.unrouteAll()
    page.takeComplaints()
    await page.locator(at).getByRole('button', { name: 'Try again' }).click()
    await shown(() => page.locator(at).getByRole('button').count()).toBe(0)
    await shown(() => page.locator(`${at} .skeleton`).count()).toBe(0)
  })

  test.each([
    ['overview', '', '#feed li'],
    ['alerts', '#alerts', '#rules-title'],
    ['calls', '?status=ended#calls', '#explorer tbody tr'],
    ['call', '?target=production&call_id=late%2F1#call', '#call-seen'],
    ['usage', '?since=7d&by=day,target,type#usage', '#usage-rows .total'],
  ])('violate no rule of accessibility in light, dark and on a phone: %s', async (_view, address, part) => {
    const page = await openView(open, address, { timezoneId: 'Europe/Berlin' })
    await page.locator(part).first().waitFor()
    await openFolded(page)
    expect(await problemsInAllLooks(page)).toEqual([])
    const stops = await walk(page)
    expect(stops.length).toBeGreaterThan(7)
    expect(stops.filter(({ outline }) => outline === 'none')).toEqual([])
  })
})
