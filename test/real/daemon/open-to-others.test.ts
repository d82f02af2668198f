import { onTestFinished, expect, test } from 'vitest'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { statusFor } from '../../unit/web/status-for.ts'
import { daemonInProcess } from '../../kit/daemon/daemon-in-process.ts'

const AUTH = { username: 'ops', password: 'a long password' }

test.each([
  ['open to other hosts without a password is warned about', { host: '0.0.0.0' }, true],
  ['open to other hosts by IPv6 as well', { host: '::' }, true],
  ['open to other hosts with a password is not', { host: '0.0.0.0', auth: AUTH }, false],
  ['on loopback is not', { host: '127.0.0.1' }, false],
])('an API %s', async (_what, http, isWarned) => {
  const simulator = await startSimulator()
  onTestFinished(simulator.close)
  const { log } = await daemonInProcess(simulator.url, {}, { http: { port: 0, ...http } })
  const warnings = log.filter(({ msg }) => msg.includes('open to other hosts without a password'))
  expect(warnings.map(({ level, msg }) => [level, msg])).toEqual(
    isWarned ? [[40, expect.stringContaining('set http.auth, or set http.host to 127.0.0.1')]] : [],
  )
})

test('the host of http.public_url is answered on loopback from when it is set, without a restart', async () => {
  const simulator = await startSimulator()
  onTestFinished(simulator.close)
  const { daemon, reload } = await daemonInProcess(simulator.url)
  expect(await statusFor('callwatch.example', daemon.url)).toBe(403)
  await reload({ http: { host: '127.0.0.1', port: 0, publicUrl: 'https://callwatch.example' } })
  expect(await statusFor('callwatch.example', daemon.url)).toBe(200)
})
