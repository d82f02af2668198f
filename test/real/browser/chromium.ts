import { existsSync } from 'node:fs'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest'
import { EXECUTABLE, launchChromium } from './chromium-executable.ts'

const HOW = `no Chromium at ${EXECUTABLE}: apt-get install chromium-headless-shell, or name one in CHROMIUM_PATH`

/** A page in a browser. It is closed after the test, which fails if the page has complaints. */
export type Opened = Page & {
  /** Returns and clears the messages on the console, failed scripts, and requests to other hosts. */
  takeComplaints: () => string[]
}

/** Half of what a slow test has, so that it says what is missing. */
export const WAIT = { timeout: 150_000, interval: 100 }

/** Waits until the page shows something: it renders in the next frame, and draws charts after that. */
export const shown = <Read>(read: () => Promise<Read>) => expect.poll(read, WAIT)

/** For an expectation of how soon a page is painted: other programs on the machine may delay it for a while. */
export const UNTIL_UNDISTURBED = { timeout: 240_000, interval: 0 }

export type Open = (url: string, options?: BrowserContextOptions) => Promise<Opened>

/**
 * Tests in one real browser. Without a browser they are skipped, or fail under `CI=true`, and say how to install one.
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
    })
    afterAll(() => browser?.close())
    tests(async (url, options) => openPage(browser!, url, options))
  })
}

async function openPage(browser: Browser, url: string, options?: BrowserContextOptions): Promise<Opened> {
  const context = await browser.newContext({ timezoneId: 'UTC', ...options })
  context.setDefaultTimeout(WAIT.timeout)
  const page = await context.newPage()
  let complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() !== 'log') complaints.push(`${message.type()}: ${message.text()}`)
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('request', (request) => {
    if (!request.url().startsWith(new URL(url).origin)) complaints.push(`requested ${request.url()}`)
  })
  onTestFinished(async () => {
    await context.close()
    expect(complaints).toEqual([])
  })
  await page.goto(url)
  await page.locator('main[data-commits]').waitFor()
  return Object.assign(page, {
    takeComplaints: () => {
      const taken = complaints
      complaints = []
      return taken
    },
  })
}
