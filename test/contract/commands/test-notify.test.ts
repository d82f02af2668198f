import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { headerOf, smtpInbox } from '../../unit/notifications/receivers/email/smtp-inbox.ts'
import { callwatch, configFile } from '../../kit/commands/callwatch.ts'
import { localServer } from '../../kit/commands/local-server.ts'
import { trusted } from '../../kit/commands/self-signed.ts'

const ENV = { CALLWATCH_BASE_URL: 'http://127.0.0.1:1/v3', CALLWATCH_API_KEY: 'hunter2-hunter2' }

/** A Slack webhook that responds with this status, and what was posted to it. */
async function webhook(status: number, body: string) {
  const posted: { path: string; message: { text: string; attachments?: unknown; blocks?: unknown } }[] = []
  const { url } = await localServer((request, response) => {
    void text(request).then((message) => {
      posted.push({ path: request.url ?? '', message: JSON.parse(message) })
      response.writeHead(status).end(body)
    })
  })
  return { posted, env: { ...ENV, SLACK_WEBHOOK_URL: `${url}/services/T0/B0/hunter2` } }
}

test('test-notify says that alerts are lines of the log without a receiver', async () => {
  const { code, stdout, stderr } = await callwatch(['test-notify'], { env: ENV })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(
    /^neither slack nor webhook nor email is configured: alerts and reports are lines of the log\n/,
  )
  expect(stdout).not.toContain('sample')
})

test('test-notify posts one firing and one resolved message, marked as samples', async () => {
  const { posted, env } = await webhook(200, 'ok')
  const { code, stdout, stderr } = await callwatch(['test-notify'], { env })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('slack: the sample "firing" was accepted\nslack: the sample "resolved" was accepted\n')
  expect(posted.map(({ path }) => path)).toEqual(['/services/T0/B0/hunter2', '/services/T0/B0/hunter2'])
  expect(posted[0]?.message.text).toContain('SampleAlert')
  expect(posted[1]?.message.text.toLowerCase()).toContain('resolved')
  expect(JSON.stringify(posted[0])).toContain('Nothing is wrong.')
  expect(stdout).not.toContain('hunter2')
})

test('the samples to a webhook say what messages say', async () => {
  const posted: unknown[] = []
  const { url } = await localServer((request, response) => {
    void text(request).then((message) => response.end(String(posted.push(JSON.parse(message)))))
  })
  const file = configFile(`notify: { webhook: { url: '${url}/hook' } }`)
  expect((await callwatch(['test-notify', '--config', file], { env: ENV })).code).toBe(0)
  expect(posted).toMatchObject([
    {
      summary: '127.0.0.1:1: 42.5% of 40 calls failed in 15 minutes, mostly rejected',
      details: expect.arrayContaining(['Outcomes: rejected 12, unanswered 5, canceled 0, ended 23']),
      firing: { targets: 1, of: 1 },
      incident: { severity: 'info' },
    },
    { summary: 'SampleAlert resolved on 1 target', firing: { targets: 0, of: 1 }, incident: null },
  ])
})

test.each([
  [404, 'no_service', 'Slack refused the message with 404 (no_service)'],
  [500, 'oops', 'Slack answered 500 (oops)'],
  [403, 'no channel for /services/T0/B0/hunter2', 'Slack refused the message with 403'],
])(
  'test-notify exits 1 for a webhook that responds %i, with its reason and without its address',
  async (status, body, reason) => {
    const { env } = await webhook(status, body)
    const { code, stdout, stderr } = await callwatch(['test-notify'], { env })
    expect(code).toBe(1)
    expect(stdout).toContain(`slack: the sample "firing" failed: ${reason}`)
    expect(stdout).toContain('slack: the sample "resolved" failed')
    expect(stdout + stderr).not.toContain(env.SLACK_WEBHOOK_URL)
  },
)

test.each([
  ['OK', 0, 'heartbeat: the heartbeat was accepted'],
  ['OK (not found)', 1, 'heartbeat: the heartbeat failed: the heartbeat URL refused the message with 200 (not found)'],
])('test-notify requests the heartbeat once, and says what %j means', async (body, code, line) => {
  let requests = 0
  const { url } = await localServer((_request, response) => {
    requests += 1
    response.end(body)
  })
  const file = configFile(`notify: { heartbeat: { url: '${url}/ping/hunter2' } }`)
  const { stdout, ...ended } = await callwatch(['test-notify', '--config', file], { env: ENV })
  expect(ended).toMatchObject({ code, stderr: '' })
  expect(stdout.split('\n').filter((each) => each.startsWith('heartbeat'))).toEqual([line])
  expect(requests).toBe(1)
})

test.each([
  ['starttls', {}],
  ['tls', { secure: true }],
])(
  'test-notify sends e-mails over %s to a server of a private authority, each receiver by its name',
  async (tls, options) => {
    const certificate = trusted()
    const logins: string[] = []
    const login = (user: string, password: string) => void logins.push(`${user} ${password}`)
    const { inbox, port } = await smtpInbox({ login }, { ...certificate, ...options, allowInsecureAuth: false })
    const server = `from: callwatch@example.com, host: localhost, port: ${port}, tls: ${tls}, username: ann, password: hunter2`
    const file = configFile(`notify:
  email: { to: [all@example.com], ${server} }
  receivers:
    - { name: on-call, email: { to: [oncall@example.com], ${server} } }
    - { name: gone, email: { to: [gone@example.com], from: c@example.com, host: 127.0.0.1, port: 1, tls: ${tls} } }
`)
    const { code, stdout, stderr } = await callwatch(['test-notify', '--config', file], { env: ENV })
    expect(stderr).toBe('')
    expect(stdout.split('\n')).toEqual([
      'messages have links once `http.public_url` is set',
      'email: the sample "firing" was accepted',
      'email: the sample "resolved" was accepted',
      'on-call: the sample "firing" was accepted',
      'on-call: the sample "resolved" was accepted',
      'gone: the sample "firing" failed: the mail server could not be reached: ECONNREFUSED',
      'gone: the sample "resolved" failed: the mail server could not be reached: ECONNREFUSED',
      '',
    ])
    expect(code).toBe(1)
    expect(inbox.map(({ to, isEncrypted, user }) => [...to, isEncrypted, user])).toEqual([
      ['all@example.com', true, 'ann'],
      ['all@example.com', true, 'ann'],
      ['oncall@example.com', true, 'ann'],
      ['oncall@example.com', true, 'ann'],
    ])
    expect(new Set(logins)).toEqual(new Set(['ann hunter2']))
    const threads = inbox.map((mail) => headerOf(mail, 'References'))
    expect([threads[0] === threads[1], threads[1] === threads[2], threads[2] === threads[3]]).toEqual([
      true,
      false,
      true,
    ])
  },
)
