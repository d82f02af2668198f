import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { sharedSettings } from '../../../src/daemon/shared-settings.ts'
import { loadConfig } from '../../../src/config/load-config.ts'
import { folderWith } from '../config/folder-with.ts'

/** The settings of a daemon with one target, and these receivers. */
const withReceivers = (receivers: string) =>
  sharedSettings(
    loadConfig({
      env: { CALLWATCH_APP_ID: '1', CALLWATCH_REGION: 'us', CALLWATCH_API_KEY: 'k' },
      cwd: folderWith({ 'callwatch.yaml': `notify: { receivers: [${receivers}] }` }),
    }),
  )['notify.receivers']

/** The settings of a daemon with one target, and these variables of the environment beside it. */
const settingsOf = (env: Record<string, string> = {}) =>
  sharedSettings(
    loadConfig({
      env: { CALLWATCH_APP_ID: '1', CALLWATCH_REGION: 'us', CALLWATCH_API_KEY: 'hunter2-hunter2', ...env },
      cwd: import.meta.dirname,
    }),
  )
const differing = (env: Record<string, string>) => {
  const [before, after] = [settingsOf(), settingsOf(env)]
  return Object.keys({ ...before, ...after }).filter((name) => !isDeepStrictEqual(before[name], after[name]))
}

test('shared settings have the names of the configuration, and no secret', () => {
  const settings = settingsOf({ SLACK_WEBHOOK_URL: 'https://hooks.slack.com/services/T0/B0/hunter2' })
  expect(settings).toMatchObject({ targets: ['1'], 'poll.interval': '15s', 'poll.max_requests_per_minute': '200' })
  expect(settings['alerts']).toContain('NoGoodPoll')
  expect(JSON.stringify(settings)).not.toContain('hunter2')
})

test.each([
  [{ CALLWATCH_POLL_INTERVAL: '30s' }, ['poll.interval']],
  [{ CALLWATCH_REGION: 'eu' }, ['targets.1']],
  [{ SLACK_WEBHOOK_URL: 'https://hooks.slack.com/services/T0/B0/x' }, ['notify.slack']],
])('shared settings differ if %j does', (env, names) => {
  expect(differing(env)).toEqual(names)
})

test.each([{ CALLWATCH_API_KEY: 'another-key' }, { CALLWATCH_HTTP_PORT: '1' }, { CALLWATCH_LOG_LEVEL: 'debug' }])(
  'shared settings do not differ by what is each daemon’s own, such as %j',
  (env) => {
    expect(differing(env)).toEqual([])
  },
)

test('shared settings have all sections of notify, so that a missing one differs', () => {
  const sections = ['slack', 'webhook', 'email', 'alertmanager', 'heartbeat']
  expect(sections.map((section) => settingsOf()[`notify.${section}`])).toEqual(sections.map(() => 'not set'))
})

test('shared settings have the name and the type of each named receiver, and not its address', () => {
  const slack = (name: string, path: string) =>
    `{ name: ${name}, slack: { webhook_url: "https://hooks.test/${path}" } }`
  const settings = withReceivers(slack('ops', 'a'))
  expect(withReceivers(slack('ops', 'b'))).toEqual(settings)
  expect(withReceivers(slack('others', 'a'))).not.toEqual(settings)
  expect(withReceivers('{ name: ops, webhook: { url: "https://hooks.test/a" } }')).not.toEqual(settings)
})
