import { createServer, request } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { inChromium, shown, WAIT } from './chromium.ts'
import { pageWorld } from './page-world.ts'

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

inChromium('behind a proxy that keeps streams back, the page', (open) => {
  test('asks for the state instead, is live without a banner, and uses the stream once it comes through', async () => {
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
