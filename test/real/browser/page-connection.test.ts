import { expect, onTestFinished, test, vi } from 'vitest'
import { inChromium, shown, WAIT } from './chromium.ts'
import { pageWorld } from './page-world.ts'

/** The last one is the answer of a daemon that is about to end. */
const NOT_THERE = /net::ERR_(?:CONNECTION_REFUSED|CONNECTION_RESET|INCOMPLETE_CHUNKED_ENCODING|EMPTY_RESPONSE)|\b503\b/

inChromium('a page that stays open', (open) => {
  test('says that it is not connected while the daemon is down, and then resumes', async () => {
    const world = await pageWorld()
    onTestFinished(world.close)
    const page = await open(world.url)
    const feed = page.locator('#feed li')
    await vi.waitFor(async () => {
      expect(await feed.count()).toBeGreaterThan(5)
      expect(await page.locator('.banner').count()).toBe(0)
      expect(await page.locator('.now').textContent()).toMatch(/^live \d\d:\d\d:\d\d UTC/)
    }, WAIT)

    await world.stop()
    await shown(() => page.locator('.banner').textContent()).toMatch(
      /^Not connected to callwatch\. Data of \d\d:\d\d:\d\d UTC\. \(\d+[ms].* ago\)/,
    )
    const [lines, newest] = [await feed.count(), await feed.first().textContent()]
    expect(await page.locator('[role=status]').textContent()).toContain('Not connected to callwatch')
    expect(await page.locator('.page').getAttribute('class')).toBe('page stale')
    expect(await page.locator('.now').textContent()).toContain('not live')
    expect(await page.title()).toContain('not live')

    await world.start()
    await vi.waitFor(async () => {
      expect(await page.locator('.banner').count()).toBe(0)
      // The feed has the newest events again.
      expect(await feed.count()).toBeGreaterThanOrEqual(lines)
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
    await shown(() => page.locator('.now').textContent()).toMatch(/^live/)
    world.simulator.setSwitches({ fault: { hang: 1 } })
    await shown(() => page.locator('.banner').textContent()).toMatch(
      /production: no successful poll since \d\d:\d\d:\d\d UTC\. .*\(for \d+[ms].*\)/,
    )
    await shown(() => page.locator('.page').getAttribute('class')).toBe('page stale')
    // The page itself is connected.
    await shown(() => page.locator('.now').textContent()).toMatch(/^live/)
    // Screen readers read it once, not each second.
    expect(await page.locator('[role=status]').textContent()).not.toMatch(/for \d/)
    world.simulator.setSwitches({ fault: {} })
    await shown(() => page.locator('.banner').count()).toBe(0)
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
    await shown(first).not.toBe(before)
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'Resume' }).waitFor()
    const paused = await first()
    const commit = await page.locator('main').getAttribute('data-commits')
    await shown(async () => Number(await page.locator('main').getAttribute('data-commits'))).toBeGreaterThan(
      Number(commit) + 3,
    )
    expect(await first()).toBe(paused)
    await page.getByRole('button', { name: 'Resume' }).click()
    await shown(first).not.toBe(paused)
  })
})
