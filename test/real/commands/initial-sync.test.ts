import { onTestFinished, expect, test, vi } from 'vitest'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { configFile, start } from '../../kit/commands/callwatch.ts'

const WAIT = { timeout: 150_000, interval: 20 }

test('a long initial sync reports its progress in the log, and each page in /readyz', async () => {
  const { url, keys, close } = await startSimulator({ history: 400, callsPerMinute: 1 })
  onTestFinished(close)
  // Some two requests a second, for forty pages.
  const { printed, stdout } = start([
    'run',
    '--config',
    configFile(`
targets: [{ name: a, base_url: '${url}', api_key: '${keys.fullAccess}' }]
poll: { page_size: 10, max_requests_per_minute: 150, interval: 2s }
store: { path: ':memory:' }
http: { host: 127.0.0.1, port: 0 }
`),
  ])
  const [, page] = await printed(/"url":"(http:[^"]+)"/)
  const pagesRead = async () => {
    const body = await (await fetch(`${page}readyz`)).text()
    return Number(/target a: the initial sync has read (\d+) of 4\d pages/.exec(body)?.[1] ?? 0)
  }
  const read = new Set<number>()
  // There are some five in a cycle.
  await vi.waitFor(async () => {
    read.add(await pagesRead())
    expect([...read].some((pages) => pages > 0 && read.has(pages + 1))).toBe(true)
  }, WAIT)
  await printed(/"msg":"the initial sync has read \d+ of 4\d pages, and takes about \d+s more"/)
  expect(stdout()).not.toContain('poll partial')
})
