import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { emptyFolder, start } from '../../kit/commands/callwatch.ts'
import { localServer } from '../../kit/commands/local-server.ts'

const KEY = 'hunter2-hunter2'
const ANOTHER_KEY = 'hunter3-hunter3'
/** A changed file is reloaded within two reads, four seconds. */
const WAIT = { timeout: 90_000, interval: 50 }

/** A daemon that reads its configuration from a folder. */
async function daemonWith(files: (url: string) => Record<string, string>) {
  const service = await startSimulator({ apiKey: KEY, callsPerMinute: 60, speed: 20 })
  onTestFinished(service.close)
  const folder = emptyFolder()
  const write = (name: string, content: string) => {
    // As editors do it: a new file replaces the old one.
    writeFileSync(join(folder, `${name}~`), content)
    renameSync(join(folder, `${name}~`), join(folder, name))
  }
  for (const [name, content] of Object.entries(files(service.url))) write(name, content)
  const running = start(['run', '--config', join(folder, 'callwatch.yaml')])
  const [, page] = await running.printed(/"url":"(http:[^"]+)"/)
  const gauge = async () => {
    const metrics = await (await fetch(`${page}metrics`)).text()
    return /^callwatch_config_last_reload_successful (\d)$/m.exec(metrics)?.[1]
  }
  return { service, folder, write, running, page: page!, gauge }
}

const yaml = (url: string, more = '', names = ['a']) => `
targets:
${names.map((name) => `  - { name: ${name}, base_url: '${url}', api_key_file: key }`).join('\n')}
poll: { interval: 300ms }
store: { path: ':memory:' }
http: { host: 127.0.0.1, port: 0 }
${more}
`

test('SIGHUP reloads the configuration at once: a valid one is active, of an invalid one each problem is logged', async () => {
  const { service, write, running, gauge } = await daemonWith((url) => ({ 'callwatch.yaml': yaml(url), key: KEY }))
  const { child, printed } = running
  await printed(/the target is up/)
  write('callwatch.yaml', yaml(service.url, '', ['a', 'b']))
  child.kill('SIGHUP')
  await printed(/the configuration was reloaded; changed: targets/)
  await printed(/"target":"b".*the target is up/)

  write('callwatch.yaml', yaml(service.url, 'log: { level: loud }\nalert: []'))
  child.kill('SIGHUP')
  const [refusal] = await printed(/^.*the configuration was refused, and the old one stays active.*$/m)
  expect(refusal).toMatch(/callwatch\.yaml:\d+:8: log\.level: found `loud`; expected one of/)
  expect(refusal).toContain('alert: unknown key `alert`; did you mean `alerts`?')
  expect(await gauge()).toBe('0')

  const nine = (of: string) => `[${Array<string>(9).fill(of).join(', ')}]`
  const levels = [1, 2, 3, 4, 5, 6, 7].map((level) => `a${level}: &a${level} ${nine(`*a${level - 1}`)}`)
  write('callwatch.yaml', `a0: &a0 ${nine('x')}\n${levels.join('\n')}`)
  child.kill('SIGHUP')
  await printed(/the configuration was refused.*that repeat each other too often/)

  write('callwatch.yaml', yaml(service.url))
  child.kill('SIGHUP')
  await printed(/"target":"b".*the target was removed/)
  await expect.poll(gauge, WAIT).toBe('1')
  child.kill('SIGTERM')
  expect((await running.ended).code).toBe(0)
})

test('a changed key file rotates the key without a gap', async () => {
  const { service, write, running, page } = await daemonWith((url) => ({ 'callwatch.yaml': yaml(url), key: KEY }))
  await running.printed(/the target is up/)
  service.keys.fullAccess = ANOTHER_KEY
  write('key', `${ANOTHER_KEY}\n`)
  await running.printed(/the configuration was reloaded; changed: targets/)
  const metrics = async () => (await fetch(`${page}metrics`)).text()
  await vi.waitFor(async () => expect(await metrics()).toMatch(/^callwatch_up.* 1$/m), WAIT)
})

test('a new key is masked at once, in any spelling of the service', async () => {
  const { url } = await localServer(({ headers }, response) => {
    const message = `what is ${encodeURIComponent(String(headers['apikey']))}?`
    response.writeHead(401).end(JSON.stringify({ error: { code: 'AUTH_ERR_APIKEY_NOT_FOUND', message } }))
  })
  const { write, running } = await daemonWith(() => ({
    'callwatch.yaml': `${yaml(url)}\nlog: { level: debug }\n`,
    key: 'hunter2/hunter2',
  }))
  await running.printed(/what is \*{8}\?/)
  write('key', 'hunter3/hunter3/hunter3')
  running.child.kill('SIGHUP')
  await running.printed(/was reloaded; changed: targets[^]*?what is \*{8}\?/)
  running.child.kill('SIGTERM')
  const { stdout, stderr } = await running.ended
  expect(stdout + stderr).not.toContain('hunter')
})

test('a link that is turned to another folder, as by Kubernetes, reloads the configuration', async () => {
  const service = await startSimulator({ apiKey: KEY })
  onTestFinished(service.close)
  const folder = emptyFolder()
  for (const [version, names] of Object.entries({ v1: ['a'], v2: ['a', 'b'] })) {
    mkdirSync(join(folder, version))
    writeFileSync(join(folder, version, 'callwatch.yaml'), yaml(service.url, '', names))
    writeFileSync(join(folder, version, 'key'), KEY)
  }
  symlinkSync('v1', join(folder, 'data'))
  for (const name of ['callwatch.yaml', 'key']) symlinkSync(join('data', name), join(folder, name))
  const { printed } = start(['run'], { env: { CALLWATCH_CONFIG: join(folder, 'callwatch.yaml') } })
  await printed(/"target":"a".*the target is up/)
  symlinkSync('v2', join(folder, 'next'))
  renameSync(join(folder, 'next'), join(folder, 'data'))
  await printed(/"target":"b".*the target is up/)
})
