import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { freePort } from '../../kit/postgres/start-postgres.ts'
import { chaosConfig } from '../../promises/chaos/chaos-config.ts'
import { startDaemonProcess } from '../../kit/daemon-process.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'

/** Milliseconds in which all answers must come: the disk confirms the commit after 20 seconds. */
const ANSWERED_WITHIN = 15_000

const PATHS = ['healthz', 'metrics', 'api/v1/state', 'api/v1/calls', '']

test('while a disk does not confirm a commit to SQLite, the daemon answers requests, and stops when asked twice', async () => {
  const folder = temporaryFolder()
  const simulator = await startSimulator({ history: 100, callsPerMinute: 600 })
  onTestFinished(simulator.close)
  const [config, order] = [join(folder, 'callwatch.yaml'), join(folder, 'order')]
  const slack = 'http://127.0.0.1:9/services/T0/B0/x'
  const hooks = new URL(`http://vendor:secret-password@127.0.0.1:${await freePort()}/hooks/chaos`)
  const store = join(folder, 'callwatch.db')
  writeFileSync(
    config,
    chaosConfig({
      service: simulator.url,
      apiKey: simulator.keys.fullAccess,
      slack,
      others: '',
      onCall: slack,
      hooks,
      store,
    }),
  )
  const daemon = await startDaemonProcess(config, order)
  onTestFinished(async () => void (await daemon.end('SIGKILL')))
  // A clone compiles what answers, and bundles the page, at the first request.
  for (const path of PATHS) await (await fetch(daemon.url + path)).text()
  writeFileSync(order, 'before')
  await daemon.logged(/chaos: paused before COMMIT/)
  const signal = AbortSignal.timeout(ANSWERED_WITHIN)
  for (const path of PATHS) {
    const answer = await fetch(daemon.url + path, { signal })
    expect([path, answer.status]).toEqual([path, 200])
    await answer.text()
  }
  daemon.child.kill('SIGTERM')
  await fetch(`${daemon.url}healthz`)
  expect(await daemon.end('SIGTERM')).not.toBeNull()
})
