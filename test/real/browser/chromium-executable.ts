import { existsSync } from 'node:fs'
import { chromium, type Browser } from 'playwright-core'

/** The shell has no windows, and so costs less than the whole browser. */
const INSTALLED = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'] as const

export const EXECUTABLE = process.env['CHROMIUM_PATH'] ?? INSTALLED.find((path) => existsSync(path)) ?? INSTALLED[0]

/** Without the browser's own network traffic. */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Starts the installed browser, in the time that the caller has. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: EXECUTABLE, args: FLAGS, timeout: 0 })
}
