import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { TargetView } from '../../../src/views/state/target.ts'
import { inChromium, shown, WAIT, type Opened } from './chromium.ts'
import { pageWorld, type PageWorld } from './page-world.ts'

const count = new Intl.NumberFormat('en')
const digits = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
const percent = (ratio: number) => `${digits.format(ratio * 100)}%`

/** Waits until there are calls of every kind, and freezes the simulator. */
async function freezeWithCalls(world: PageWorld): Promise<void> {
  world.simulator.burst({ calls: 30, seconds: 1 })
  await vi.waitFor(async () => {
    const { started, finished } = await statusOf(world)
    expect([started > 120, finished.rejected > 5, finished.unanswered > 5]).toEqual([true, true, true])
  }, WAIT)
  world.freeze()
  const { commit } = await statusOf(world)
  // The poll in progress may have missed calls; the next ones have all.
  await vi.waitFor(async () => expect((await statusOf(world)).commit).toBeGreaterThan(commit + 3), WAIT)
}

async function get<Answer>({ url }: Pick<PageWorld, 'url'>, path: string): Promise<Answer> {
  return JSON.parse(await (await fetch(`${url}api/v1/${path}`)).text())
}

async function statusOf(world: Pick<PageWorld, 'url'>): Promise<TargetView> {
  const { targets } = await get<{ targets: TargetView[] }>(world, 'state')
  return targets[0]!
}

/** The texts of a row of a table, by the headings of their columns. */
async function cells(page: Opened, caption: string, row: string): Promise<Record<string, string | undefined>> {
  const table = page.getByRole('table', { name: caption })
  const [, ...headings] = await table.locator('thead th').allTextContents()
  const texts = await table
    .getByRole('row', { name: new RegExp(`^${row}\\b`) })
    .locator('td')
    .allTextContents()
  return Object.fromEntries(headings.map((name, i) => [name, texts[i]?.trim()]))
}

inChromium('the numbers of the page', (open) => {
  let world: PageWorld
  beforeAll(async () => {
    world = await pageWorld()
    await freezeWithCalls(world)
  }, 180_000)
  afterAll(() => world?.close())

  test('equal those of the API at the same commit', async () => {
    const page = await open(world.url)
    const text = (selector: string) => page.locator(selector).textContent()
    const target = await statusOf(world)
    // A poll may fail for a moment on a slow machine.
    await vi.waitFor(async () => {
      const commits = await page.locator('main').getAttribute('data-commits')
      expect(Number(commits)).toBeGreaterThanOrEqual(target.commit)

      expect(await text('#calls-now')).toBe(count.format(target.in_progress))
      expect(await text('#calls-now + dd')).toBe(`${count.format(target.participants_in_progress)} participants`)
      expect(await text('#failing')).toBe(percent(target.rules[0]!.readings![0]!.value!))
      expect(await text('#failing + dd')).toMatch(/^HighFailureRate: \d+ finished calls$/)
      expect(await text('#minutes-today')).toBe(digits.format(target.participant_minutes_today.minutes))
      expect(await text('#minutes-month')).toBe(digits.format(target.participant_minutes_this_month.minutes))
      expect(target.participant_minutes_today.minutes).toBeGreaterThan(0)

      expect(target.in_progress_by.length).toBeGreaterThan(1)
      for (const { type, mode, calls } of target.in_progress_by) {
        expect(await cells(page, 'Calls in progress', mode)).toMatchObject({ [type]: `${calls}` })
      }
      expect(await cells(page, 'Calls in progress', 'all')).toMatchObject({ all: `${target.in_progress}` })
      let sum = 0
      for (const mode of ['call', 'meet', 'presenter'])
        sum += Number((await cells(page, 'Calls in progress', mode))['all'])
      expect(sum).toBe(target.in_progress)

      for (const { window, calls, failure_ratio: ratio } of target.windows) {
        expect(await cells(page, 'of each window', window)).toEqual({
          Calls: count.format(calls),
          any: percent(ratio!.any),
          unanswered: percent(ratio!.unanswered),
          rejected: percent(ratio!.rejected),
          canceled: percent(ratio!.canceled),
        })
      }

      const facts = Object.fromEntries(
        await page.evaluate<[string, string][]>(
          `[...document.querySelectorAll('#target-facts .facts div')].map((one) => [...one.children].map(({ textContent }) => textContent))`,
        ),
      )
      expect(Object.entries(facts).find(([name]) => name.startsWith('Started'))?.[1]).toBe(count.format(target.started))
      const { ended, unanswered, rejected, canceled, other, lost } = target.finished
      const numbers = { ended, unanswered, rejected, canceled, other, lost }
      expect(facts).toMatchObject({
        ...Object.fromEntries(
          Object.entries(numbers).map(([name, value]) => [
            `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
            count.format(value),
          ]),
        ),
        'Audio min': digits.format(target.minutes.audio),
        'Video min': digits.format(target.minutes.video),
        Health: 'up',
        'Requests in the last minute': expect.stringMatching(/^\d+ of 6,000$/),
      })
    }, WAIT)

    await shown(() => text('#alerts-firing')).toBe('1')
    const { alerts } = await get<{ alerts: { value: number; peak: number; since: string }[] }>(world, 'state')
    await page.getByRole('link', { name: 'Alerts' }).click()
    await shown(() => cells(page, 'pending or firing', 'HighFailureRate')).toMatchObject({
      Value: percent(alerts[0]!.value),
      Peak: percent(alerts[0]!.peak),
      'Since (UTC)': expect.stringContaining(alerts[0]!.since.slice(11, 19)),
    })
    await page.goBack()
    const Ratio = percent(target.rules[0]!.readings![0]!.value!)
    await shown(() => cells(page, 'of each rule', 'HighFailureRate')).toMatchObject({ Ratio })
    const window = page.locator('#failure-ratio tr', { hasText: /^15m/ })
    expect(await window.locator('line').getAttribute('x1')).toBe('2')
  })

  test('in the chart equal the finished calls, and its pixels have their colours', async () => {
    const page = await open(world.url)
    await page.getByText('The chart as a table').click()
    await page.locator('#per-minute tbody tr').first().waitFor()
    const sums = async () => {
      const texts: string[][] = await page.evaluate(
        `[...document.querySelectorAll('#per-minute tbody tr')].map((row) => [...row.cells].slice(1).map((cell) => cell.textContent))`,
      )
      return [0, 1, 2, 3, 4].map((i) => texts.reduce((sum, row) => sum + (Number(row[i]) || 0), 0))
    }
    const { ended, unanswered, rejected, canceled, other } = (await statusOf(world)).windows[1]!.finished
    await shown(sums).toEqual([ended, unanswered, rejected, canceled, other])
    const colours = `(() => {
      const canvas = document.querySelector('#per-minute canvas')
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
      const seen = new Set()
      for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) seen.add([data[i], data[i + 1], data[i + 2]].join())
      return [...seen]
    })()`
    // The colours of ended, unanswered and rejected in colours.css.
    await shown(() => page.evaluate(colours)).toEqual(expect.arrayContaining(['0,114,178', '181,128,0', '184,67,0']))
  })

  test('of finished calls follow the filter, on the page and as CSV', async () => {
    const page = await open(`${world.url}?since=1h#calls`)
    await page.getByRole('combobox', { name: 'Status' }).selectOption('rejected')
    const { rejected } = (await statusOf(world)).finished
    const note = () => page.locator('#explorer-note').textContent()
    await shown(note).toContain(`${rejected} calls, all that match. As of`)
    const statuses = await page.locator('#explorer tbody td:nth-child(2)').allTextContents()
    expect(statuses).toEqual(Array.from({ length: rejected }, () => 'rejected'))
    const downloaded = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download CSV' }).click()
    const download = await downloaded
    expect(download.suggestedFilename()).toMatch(/^callwatch-calls-.*\.csv$/)
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\r\n')
    expect(lines).toHaveLength(rejected + 1)
    await page.getByLabel('Finished from (UTC)').fill('2038-01-01T00:00')
    await shown(note).toContain('No call matches. As of')
  })

  test('belong to calls, and never to a user', async () => {
    const page = await open(world.url)
    const listed = await fetch(`${world.simulator.url}/calls?perPage=100`, {
      headers: { apikey: world.simulator.keys.fullAccess },
    })
    const text = await listed.text()
    const uids = [
      ...new Set([...text.matchAll(/"(?:uid|initiator|receiver)":\s*"([^"]{4,})"/g)].map(([, uid]) => uid!)),
    ]
    expect(uids.length).toBeGreaterThan(3)
    const content = await page.content()
    expect(uids.filter((uid) => content.includes(uid))).toEqual([])
    const [id] = [...text.matchAll(/"sessionId":\s*"([^"]+)"/g)].map(([, id]) => id!)
    await shown(() => page.locator('#feed').textContent()).toContain(id)
  })
})
