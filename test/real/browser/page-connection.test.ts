import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { inChromium, shown, WAIT } from './chromium.ts'
import { pageWorld } from './page-world.ts'

/** The last one is the answer of a daemon that is about to end. */
const NOT_THERE = /net::ERR_(?:CONNECTION_REFUSED|CONNECTION_RESET|INCOMPLETE_CHUNKED_ENCODING|EMPTY_RESPONSE)|\b503\b/

/** A proxy that passes on only whole answers, while it buffers. */
async function bufferingProxy(to: string) {
  const proxy = { buffers: true, url: '', streams: [] as string[] }
  const server = createServer((asked, reply) => {
    const url = new URL(asked.url!, to)
    const headers = { ...asked.headers, host: url.host }
    if (asked.url!.includes('events?')) proxy.streams.push(url.searchParams.get('state')!)
    const passed = request(url, { method: asked.method!, headers }, (answer) => {
      const chunks: Buffer[] = []
      const isKept = proxy.buffers
      if (!isKept) reply.writeHead(answer.statusCode!, answer.headers)
      answer.on('data', (chunk: Buffer) => (isKept ? chunks.push(chunk) : reply.write(chunk)))
      answer.on('error', () => reply.destroy())
      answer.on('end', () => {
        if (isKept) reply.writeHead(answer.statusCode!, answer.headers)
        reply.end(Buffer.concat(chunks))
      })
    })
    passed.on('error', () => reply.destroy())
    reply.on('close', () => passed.destroy())
    asked.pipe(passed)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return proxy
}

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
    // The page itself is connected, and shows the time.
    await shown(() => page.locator('.now').textContent()).toMatch(/^no poll succeeds \d\d:/)
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

  test('asks for the state behind a proxy that keeps streams back, is live without a banner, and uses the stream once it comes through', async () => {
    const world = await pageWorld()
    onTestFinished(world.close)
    const proxy = await bufferingProxy(world.url)
    const page = await open(proxy.url)
    const now = () => page.locator('.now').textContent()
    const first = () => page.locator('#feed li:first-child').textContent()
    await shown(now).toMatch(/^live/)
    const [time, newest] = [await now(), await first()]
    await vi.waitFor(async () => {
      expect(proxy.streams.filter((state) => state === 'once').length).toBeGreaterThan(2)
      expect(await first()).not.toBe(newest)
      expect(await now()).not.toBe(time)
      expect(await now()).toMatch(/^live/)
      expect(await page.locator('.banner').count()).toBe(0)
    }, WAIT)

    proxy.buffers = false
    await vi.waitFor(async () => {
      expect(proxy.streams.lastIndexOf('true')).toBeGreaterThan(2)
      const [asked, last] = [proxy.streams.length, await first()]
      await shown(first).not.toBe(last)
      expect(await now()).toMatch(/^live/)
      // On a slow machine it may ask for a while again.
      expect([proxy.streams.at(-1), proxy.streams.length]).toEqual(['true', asked])
    }, WAIT)
  })
})
