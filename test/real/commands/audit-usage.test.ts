import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { auditUsage } from '../../../src/commands/audit/usage.ts'
import { loadConfig } from '../../../src/config/load-config.ts'
import { usageAuditDocument, type UsageAudit } from '../../../src/views/commands/audit-usage.ts'
import { callwatch, configFile, emptyFolder } from '../../kit/commands/callwatch.ts'
import { daemonInProcess } from '../../kit/daemon/daemon-in-process.ts'
import { startWorld, type WorldOptions } from '../../kit/world/start-world.ts'

const KEY = 'hunter2-hunter2'
/** That of yesterday: on the first of a month, the present one has few calls. */
const MONTH = new Date(Date.now() - 86_400_000).toISOString().slice(0, 7)

/** A service with a past of ten days, which a daemon has counted. */
async function countedMonth(options: WorldOptions = {}) {
  const past = { history: 400, historySeconds: 10 * 86_400, callsPerMinute: 0, open: 0 }
  const service = await startWorld({ apiKey: KEY, ...past, ...options })
  onTestFinished(service.close)
  const fileWith = (target: string) =>
    configFile(`
targets: [{ name: production, base_url: '${service.url}', api_key: ${KEY}${target} }]
poll: { lookback: 30d, page_size: 100, max_requests_per_minute: 6000 }
store: { path: '${join(folder, 'callwatch.db')}' }
http: { host: 127.0.0.1, port: 0 }
`)
  const folder = emptyFolder()
  const file = fileWith(`, chat_base_url: '${service.url}'`)
  const load = () => loadConfig({ file, env: {}, cwd: '/' })
  const { polls, stop } = await daemonInProcess(service.url, {}, load())
  await vi.waitFor(() => expect(polls.at(-1)).toMatchObject({ outcome: 'complete' }), { timeout: 60_000 })
  await stop()
  return { service, file, load, fileWith }
}

async function audited(config: Parameters<typeof auditUsage>[0], month = MONTH): Promise<UsageAudit> {
  for await (const one of auditUsage(config, month)) return one
  throw new Error('there is no target')
}

test('audit --usage names the sum that the vendor counts by, whatever it rounds up and leaves out', async () => {
  const { service, load } = await countedMonth({ switches: { facts: { alone: 0.2 } } })
  const config = load()
  const WAYS = (['participants', 'duration'] as const).flatMap((usage) =>
    (['nothing', 'participant', 'call', 'total'] as const).flatMap((usageRounded) =>
      (['included', 'omitted'] as const).map((usageAlone) => ({ usage, usageRounded, usageAlone })),
    ),
  )
  for (const [i, way] of WAYS.entries()) {
    const usageTimes = i % 3 === 0 ? 'seconds' : 'milliseconds'
    service.setSwitches({ ...way, usageTimes })
    const { nearest, vendor } = await audited(config)
    expect({ way, of: nearest?.of, asked: vendor?.asked_in }).toEqual({ way, of: way.usage, asked: usageTimes })
    // What a vendor rounds up for each participant can only be estimated: the minutes of each are not stored.
    if (way.usageRounded === 'participant') continue
    const rounded = way.usageRounded === 'call' ? 'call' : 'nothing'
    expect(nearest).toMatchObject({ rounded, with_alone: way.usageAlone === 'included' })
    expect(nearest!.minutes / vendor!.total).toBeCloseTo(1, 3)
  }
})

test('audit --usage prints both sums beside the minutes of the vendor, what is not covered, and the sum of several targets', async () => {
  const { service, file, fileWith } = await countedMonth()
  service.setSwitches({ usage: 'duration', usageRounded: 'call' })
  const { code, stdout, stderr } = await callwatch(['audit', '--usage', '--month', MONTH, '--config', file])
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' })
  const numbers = /[\d,]+(?:\.\d)?/.source
  const lines = [
    `production, ${MONTH}-01 00:00 to \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC`,
    `  the vendor counts N minutes: N audio and N video, besides 0 recorded; it understood times in milliseconds`,
    `  callwatch counts N participant minutes \\(-\\d\\d\\.\\d%\\): N audio and N video; N user minutes \\(-\\d\\.\\d%\\)`,
    `  nearest: user minutes, if each call is rounded up: N`,
  ]
  expect(stdout).toMatch(new RegExp(`^${lines.join('\n').replaceAll('N', numbers)}\n`))
  const json = await callwatch(['audit', '--usage', '--json', '--month', MONTH, '--config', file])
  const { targets, total } = usageAuditDocument.parse(JSON.parse(json.stdout))
  expect(targets).toMatchObject([{ target: 'production', problem: null, nearest: { of: 'duration', rounded: 'call' } }])
  expect(total).toMatchObject({ targets: 1, vendor: targets[0]!.vendor!.total, user_minutes: targets[0]!.user_minutes })
  const app = `, chat_base_url: '${service.url}', app_id: shop`
  const two = fileWith(`${app} }, { name: staging, base_url: '${service.url}', api_key: ${KEY}${app}`)
  const both = (await callwatch(['audit', '--usage', '--month', MONTH, '--config', two])).stdout
  const [, vendor] = /vendor counts ([\d,.]+) minutes/.exec(both) ?? []
  const lastLine = `all 2 targets: the vendor counts ${vendor} minutes; callwatch counts N participant minutes \\(-\\d\\d\\.\\d%\\), N user minutes \\(-\\d\\.\\d%\\)`
  expect(both).toMatch(new RegExp(`\n\n${lastLine.replaceAll('N', numbers)}\n$`))
})

test('audit --usage says of a vendor that does not answer what to do, and fails', async () => {
  const { service, file, fileWith } = await countedMonth()
  const run = async (path: string) => {
    const { code, stdout, stderr } = await callwatch(['audit', '--usage', '--month', MONTH, '--config', path])
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    expect(stdout).toMatch(/ {2}callwatch counts [\d,.]+ participant minutes: .* user minutes$/m)
    return /the vendor's count is not known: (.*)/.exec(stdout)?.[1]
  }
  expect(await run(fileWith(''))).toBe(
    "the target has a base_url; set its chat_base_url too, the chat service's address",
  )
  service.keys.fullAccess = 'another-key'
  expect(await run(file)).toMatch(/401 .*; usage metrics need a key of the app with the scope fullAccess$/)
  service.keys.authOnly = KEY
  expect(await run(file)).toMatch(/403 .*; usage metrics need a key of the app with the scope fullAccess$/)
  service.keys.fullAccess = KEY
  expect(await run(fileWith(`, chat_base_url: '${service.url}/elsewhere'`))).toMatch(
    /404 .*; this chat service has no usage metrics$/,
  )
})

test('audit --usage refuses a month that is none, and a month without --usage', async () => {
  const file = configFile(`targets: [{ name: a, base_url: 'http://127.0.0.1:1', api_key: k }]`)
  const run = async (...args: string[]) => (await callwatch(['audit', ...args, '--config', file])).stderr
  expect(await run('--usage', '--month', '2026-13')).toContain('--month 2026-13: expected a month such as 2026-11')
  expect(await run('--month', '2026-11')).toContain('--month is accepted together with --usage only')
})
