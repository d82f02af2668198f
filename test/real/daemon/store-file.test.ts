import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { configOf } from '../../../src/config/config.ts'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { localServer } from '../../kit/commands/local-server.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'
import { daemonInProcess, KEY, WAIT } from '../../kit/daemon/daemon-in-process.ts'

test('a daemon whose store file is deleted is not ready, counts nothing, logs it and notifies; it recovers with the file', async () => {
  const simulator = await startSimulator({ apiKey: KEY, callsPerMinute: 1200, speed: 20 })
  onTestFinished(simulator.close)
  const received: string[] = []
  const receiver = await localServer((request, response) => {
    request.setEncoding('utf8').on('data', (text: string) => received.push(text))
    request.on('end', () => response.end())
  })
  const path = join(temporaryFolder(), 'callwatch.db')
  const { notify } = configOf({
    targets: [{ name: 'production', app_id: 'a', region: 'eu', api_key: KEY }],
    notify: { webhook: { url: receiver.url } },
  })
  const { readyz, ready, recovered, log, samples } = await daemonInProcess(
    simulator.url,
    {},
    { store: { path, history: 86_400 }, notify },
  )
  const started = async () =>
    (await samples()).reduce((sum, { name, value }) => sum + (name === 'callwatch_calls_started_total' ? value : 0), 0)
  await recovered()
  renameSync(path, `${path}.away`)
  await vi.waitFor(async () => expect((await readyz()).status).toBe(503), WAIT)
  expect((await readyz()).body).toContain('the store cannot be written to')
  const before = await started()
  await vi.waitFor(() => expect(received.join('')).toContain('it was deleted or replaced'), WAIT)
  expect(await started()).toBe(before)
  const lines = () => log.map(({ msg }) => msg).filter((msg) => msg.includes('the store can'))
  expect(lines()).toEqual([
    expect.stringMatching(/^nothing is counted until the store can be used: .* deleted or replaced/),
  ])

  renameSync(`${path}.away`, path)
  await ready()
  expect(lines()[1]).toMatch(/^the store can be used again/)
  await vi.waitFor(async () => expect(await started()).toBeGreaterThan(before), WAIT)
})
