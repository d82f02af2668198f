import { expect, onTestFinished, test, vi } from 'vitest'
import { inChromium } from './chromium.ts'
import { pageWorld } from './page-world.ts'

const WAIT = { timeout: 30_000, interval: 100 }
const NOT_THERE = /net::ERR_(?:CONNECTION_REFUSED|CONNECTION_RESET|INCOMPLETE_CHUNKED_ENCODING|EMPTY_RESPONSE)/

inChromium('a page that stays open', (open) => {
  test('says that it is not connected while the daemon is down, and then resumes', async () => {
    const world = await pageWorld()
    onTestFinished(world.close)
    const page = await open(world.url)
    const feed = page.locator('#feed li')
    await vi.waitFor(async () => expect(await feed.count()).toBeGreaterThan(5), WAIT)
    expect(await page.locator('.banner').count()).toBe(0)
    expect(await page.locator('.now').textContent()).toMatch(/^live \d\d:\d\d:\d\d UTC/)

    await world.stop()
    const [shown, newest] = [await feed.count(), await feed.first().textContent()]
    await vi.waitFor(async () => {
      expect(await page.locator('.banner').textContent()).toMatch(
        /^Not connected to callwatch\. Data of \d\d:\d\d:\d\d UTC\. \(\d+s ago\)/,
      )
    }, WAIT)
    expect(await page.locator('[role=status]').textContent()).toContain('Not connected to callwatch')
    expect(await page.locator('.page').getAttribute('class')).toBe('page stale')
    expect(await page.locator('.now').textContent()).toContain('not live')
    expect(await page.title()).toContain('not live')

    await world.start()
    await vi.waitFor(async () => {
      expect(await page.locator('.banner').count()).toBe(0)
      // The feed has the newest events again.
      expect(await feed.count()).toBeGreaterThanOrEqual(shown)
      expect(await feed.first().textContent()).not.toBe(newest)
    }, WAIT)
    expect(await page.title()).not.toContain('not live')
    const complaints = page.takeComplaints()
    expect(complaints.filter((complaint) => !NOT_THERE.test(complaint))).toEqual([])
  })

  test('shows the age of its data while the service hangs', async () => {
    const world = await pageWorld()
    onTestFinished(world.close)
    const page = await open(world.url)
    await vi.waitFor(async () => expect(await page.locator('.now').textContent()).toMatch(/^live/), WAIT)
    world.simulator.setSwitches({ fault: { hang: 1 } })
    await vi.waitFor(async () => {
      expect(await page.locator('.banner').textContent()).toMatch(
        /production: no successful poll since \d\d:\d\d:\d\d UTC\. .*\(for \d+s\)/,
      )
    }, WAIT)
    expect(await page.locator('.page').getAttribute('class')).toBe('page stale')
    // The page itself is connected.
    expect(await page.locator('.now').textContent()).toMatch(/^live/)
    // Screen readers read it once, not each second.
    expect(await page.locator('[role=status]').textContent()).not.toMatch(/for \d/)
    world.simulator.setSwitches({ fault: {} })
    await vi.waitFor(async () => expect(await page.locator('.banner').count()).toBe(0), WAIT)
  })

  test('shows events at once, except while the feed is paused', async () => {
    const world = await pageWorld()
    onTestFinished(world.close)
    const page = await open(world.url)
    const first = () => page.locator('#feed li:first-child').textContent()
    await page.locator('#feed li').first().waitFor()
    // It ends with a whole line.
    const list = `document.querySelector('#feed .tall')`
    const lines = `(parseFloat(getComputedStyle(${list}).maxHeight) - parseFloat(getComputedStyle(${list}.children[0]).marginTop)) /
      ${list}.querySelector('li').getBoundingClientRect().height`
    expect(await page.evaluate(lines)).toBeCloseTo(11, 1)
    const before = await first()
    await vi.waitFor(async () => expect(await first()).not.toBe(before), WAIT)
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'Resume' }).waitFor()
    const paused = await first()
    const commit = await page.locator('main').getAttribute('data-commits')
    await vi.waitFor(async () => {
      expect(Number(await page.locator('main').getAttribute('data-commits'))).toBeGreaterThan(Number(commit) + 3)
    }, WAIT)
    expect(await first()).toBe(paused)
    await page.getByRole('button', { name: 'Resume' }).click()
    await vi.waitFor(async () => expect(await first()).not.toBe(paused), WAIT)
  })
})
