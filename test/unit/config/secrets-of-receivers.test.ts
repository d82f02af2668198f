import { expect, test } from 'vitest'
import { loadConfig } from '../../../src/config/load-config.ts'
import { folderWith } from './folder-with.ts'
import { problemsWhenLoading } from './problems-when-loading.ts'

const TARGET = 'targets: [{ app_id: app, region: us, api_key: key }]\n'
const slack = 'notify: { slack: { token: "${BOT}", channel: C0123456789 } }\n'

test('the token of a bot in the file comes before a webhook in the environment', () => {
  const cwd = folderWith({ 'callwatch.yaml': TARGET + slack })
  const env = { BOT: 'xoxb-1', SLACK_WEBHOOK_URL: 'https://hooks.slack.com/services/T0/B0/x' }
  const [slackReceiver] = loadConfig({ env, cwd }).notify.receivers
  expect(slackReceiver?.config).toEqual({ token: 'xoxb-1', channel: 'C0123456789' })
})

test.each([
  ['the token of a bot', slack, { BOT: 'xoxb-1\u200b' }, 'notify.slack.token'],
  [
    'the password of a mail server',
    'notify: { email: { host: mail.example.com, from: a@example.com, to: [b@example.com], username: u, password: "${P}" } }\n',
    { P: 'p4ssw0rd\n' },
    'password',
  ],
])('%s that cannot be sent as it is is refused', (_what, text, env, key) => {
  const problems = problemsWhenLoading({ env, cwd: folderWith({ 'callwatch.yaml': TARGET + text }) })
  expect(problems).toContain(key)
  expect(problems).not.toContain(Object.values(env)[0]!.trim())
})
