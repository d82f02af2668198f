import { existsSync } from 'node:fs'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest'
import { EXECUTABLE, launchChromium } from './chromium-executable.ts'

const HOW = `no Chromium at ${EXECUTABLE}: apt-get install chromium, or name one in CHROMIUM_PATH`

/** A page in a browser; closed after the test, which fails if the page complained of anything. */
export type Opened = Page & {
  /** What the console and the network complained of until now; not held against the page from then on. */
  takeComplaints: () => string[]
}

export type Open = (url: string, options?: BrowserContextOptions) => Promise<Opened>

/**
 * Tests in a real browser, one for all of them. Where there is none they are skipped, and under `CI=true` they fail; both
 * say how to get it.
 */
export function inChromium(name: string, tests: (open: Open) => void): void {
  const isMissing = !existsSync(EXECUTABLE)
  if (isMissing && process.env['CI'] !== 'true') {
    console.warn(`${name} is not tested: ${HOW}`)
    describe.skip(`${name} (${HOW})`, () => tests(() => Promise.reject(new Error(HOW))))
    return
  }
  describe(name, () => {
    let browser: Browser | undefined
    beforeAll(async () => {
      if (isMissing) throw new Error(HOW)
      browser = await launchChromium()
    }, 30_000)
    afterAll(() => browser?.close())
    tests(async (url, options) => openPage(browser!, url, options))
  })
}

async function openPage(browser: Browser, url: string, options?: BrowserContextOptions): Promise<Opened> {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  let complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() !== 'log') complaints.push(`${message.type()}: ${message.text()}`)
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('request', (request) => {
    if (!request.url().startsWith(new URL(url).origin)) complaints.push(`asked for ${request.url()}`)
  })
  onTestFinished(async () => {
    await context.close()
    expect(complaints).toEqual([])
  })
  await page.goto(url)
  await page.locator('main > *').first().waitFor()
  return Object.assign(page, {
    takeComplaints: () => {
      const taken = complaints
      complaints = []
      return taken
    },
  })
}
