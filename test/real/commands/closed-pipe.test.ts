import { execFileSync } from 'node:child_process'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { configFile, MAIN, start } from '../../kit/commands/callwatch.ts'

test('a command whose output pipe closes ends without a message', () => {
  // More than a pipe holds.
  const alerts = Array.from(
    { length: 1000 },
    (_, i) => `  - { name: rule ${i}, signal: calls_finished, above: ${i} }`,
  ).join('\n')
  const file = configFile(`targets: [{ app_id: a1, region: us, api_key: k }]\nalerts:\n${alerts}\n`)
  const piped = `"${process.execPath}" "${MAIN}" check --config "${file}" 2>&1 >&3 | cat >&2`
  const stdout = execFileSync('sh', ['-c', `{ ${piped}; } 3>&1 2>"${file}.err" | head -1; cat "${file}.err"`], {
    encoding: 'utf8',
  })
  expect(stdout).toBe('targets:\n')
})

test('the daemon continues after the pipe of its log closes', async () => {
  const { url, keys, close } = await startSimulator({ callsPerMinute: 1200, speed: 20 })
  onTestFinished(close)
  const { child, printed, ended } = start([
    'run',
    '--config',
    configFile(`
targets: [{ name: a, base_url: '${url}', api_key: '${keys.fullAccess}' }]
poll: { interval: 100ms, max_requests_per_minute: 6000 }
store: { path: ':memory:' }
http: { host: 127.0.0.1, port: 0 }
log: { level: trace }
`),
  ])
  const [, page] = await printed(/"url":"(http:[^"]+)"/)
  child.stdout!.destroy()
  const polls = async () => {
    const metrics = await (await fetch(`${page}metrics`)).text()
    const outcomes = metrics.matchAll(
      /^callwatch_polls_total\{target="a",outcome="(?:complete|incremental)"\} (\d+)$/gm,
    )
    return [...outcomes].reduce((sum, [, count]) => sum + Number(count), 0)
  }
  const before = await polls()
  // Each poll writes a line to the closed pipe.
  await vi.waitFor(async () => expect(await polls()).toBeGreaterThan(before + 5), { timeout: 90_000, interval: 50 })
  child.kill('SIGTERM')
  expect((await ended).code).toBe(0)
})
