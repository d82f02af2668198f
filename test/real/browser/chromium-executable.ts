import { chromium, type Browser } from 'playwright-core'

export const EXECUTABLE = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium'

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
