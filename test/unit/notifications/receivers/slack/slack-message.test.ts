import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Notification } from '../../../../../src/alerts/notification.ts'
import type { Message } from '../../../../../src/notifications/message.ts'
import { slackMessage } from '../../../../../src/notifications/receivers/slack/slack-message.ts'
import { anyMessage, SLACK_ALERT_LINK } from '../../any-message.ts'
import {
  AT,
  DAILY,
  FIRST,
  FIRING,
  messageOf,
  NO_POLL,
  POLLS_AGAIN,
  REMINDER,
  REMOVED,
  RESOLVED,
  SIGNALS,
  STORE_FAILING,
  STORE_RECOVERED,
  TARGET_REMOVED,
  update,
  TOO_FEW,
  incidentOf,
} from '../../../../kit/notifications/sample.ts'
import { longestMessage, WIDE } from '../../longest-message.ts'
import { slackProblems, textsOf } from './slack-limits.ts'
import { runs } from '../../../../kit/runs.ts'

function render(message: Message, now = AT + 11) {
  return slackMessage(message, { now })
}

/** As Slack gets it. */
function sent(message: Message, now?: number): unknown {
  return JSON.parse(JSON.stringify(render(message, now)))
}

const SIXTY = Array.from({ length: 60 }, (_, i) => ({ ...FIRING, alert: `HighFailureRate${i}` }))
const GROUP = [
  FIRING,
  { ...SIGNALS.stuck_calls, runbookUrl: 'https://runbooks.test/stuck' },
  { ...RESOLVED, alert: 'Rejected' },
]
const PASSED = [
  { notification: { ...FIRING, alert: 'Flapping' }, times: 3, peak: 0.62, endedAt: AT - 300 },
  { notification: SIGNALS.failure_ratio, times: 1, peak: 0.4, endedAt: AT - 900 },
]
const SILENCED = [
  { alert: 'NoCalls{type="video"}', target: 'production', until: AT + 3600, reason: 'maintenance of the carrier' },
  { alert: 'StuckCalls', target: 'production', until: AT + 7200, reason: '' },
]

const links = (name: string) => ({
  alert: `https://callwatch.test/?alert=${name}#alert`,
  calls: `https://callwatch.test/?alert=${name}#calls`,
  silence: `https://callwatch.test/?alert=${name}#silences`,
})

const MESSAGES: Record<string, [message: Message, now?: number]> = {
  ...Object.fromEntries(Object.entries(SIGNALS).map(([name, alert]) => [`firing-${name}`, [messageOf([alert])]])),
  firing: [messageOf([FIRING])],
  'firing-with-links': [messageOf([{ ...update(FIRING), links: links('a') }])],
  'group-with-links': [
    messageOf(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((alert) => ({ ...update({ ...FIRING, alert }), links: links(alert) })),
      {
        flapped: PASSED.map((each) => ({ ...each, links: links(each.notification.alert) })),
        links: { overview: 'https://callwatch.test/', silence: 'https://callwatch.test/?target=production#silences' },
      },
    ),
  ],
  'firing-warning': [messageOf([{ ...FIRING, severity: 'warning' }], { severity: 'warning' })],
  'firing-not-past-the-threshold-now': [messageOf([{ ...FIRING, value: 0.25 }])],
  'firing-late': [messageOf([FIRING], { failingSince: AT }), AT + 3 * 3600],
  'firing-flapped': [messageOf([update(FIRING, 3)])],
  reminder: [messageOf([REMINDER], { about: 'reminder' })],
  resolved: [messageOf([RESOLVED])],
  'resolved-polls-again': [messageOf([POLLS_AGAIN])],
  'expired-too-few-calls': [messageOf([TOO_FEW])],
  'expired-rule-removed': [messageOf([REMOVED])],
  'expired-target-removed': [messageOf([TARGET_REMOVED])],
  'group-of-3': [messageOf(GROUP, { flapped: PASSED, silenced: SILENCED })],
  'group-of-60': [messageOf(SIXTY)],
  flapped: [messageOf([], { flapped: PASSED.slice(0, 1) })],
  inhibited: [
    messageOf([FIRING], {
      inhibited: [
        { alert: 'HighFailureRate', target: 'production', severity: 'warning' },
        { alert: 'Other', target: 'staging', severity: 'info' },
      ],
    }),
  ],
  'flapped-and-silenced': [messageOf([], { flapped: PASSED, silenced: SILENCED })],
  report: [DAILY],
  'report-of-set-up': [FIRST],
  'store-failing': [STORE_FAILING],
  'store-recovered': [STORE_RECOVERED],
}

test('every fixture is of a message', () => {
  const names = readdirSync(join(import.meta.dirname, 'fixtures')).map((file) => file.replace(/\.json$/, ''))
  expect(names.filter((name) => !(name in MESSAGES))).toEqual([])
})

describe.each(Object.entries(MESSAGES))('the message "%s"', (name, [message, now]) => {
  test('is as reviewed', async () => {
    await expect(`${JSON.stringify(render(message, now), undefined, 2)}\n`).toMatchFileSnapshot(`fixtures/${name}.json`)
  })

  test('is accepted by Slack', () => {
    expect(slackProblems(sent(message, now))).toEqual([])
  })
})

const parameters = { numRuns: runs(100) }

describe.each(WIDE)('the longest message of %j', (character) => {
  test.each([1, 100])('with %d alerts is accepted by Slack', (count) => {
    expect(slackProblems(sent(longestMessage(character.repeat(5000), count), AT + 1e7))).toEqual([])
  })
})

test('the longest report is accepted by Slack', () => {
  const name = '"'.repeat(5000)
  const { report } = DAILY
  const row = {
    ...report.rows[1]!,
    target: name,
    user_minutes: 1e300,
    participant_minutes: { audio: 0, video: 0, total: 1e300 },
  }
  const fired = Array.from({ length: 300 }, () => ({ ...report.fired[0]!, alert: name }))
  const blind = Array.from({ length: 300 }, (_, i) => ({ ...report.coverage.blind[0]!, target: `${name}${i}` }))
  const rows = Array.from({ length: 300 }, () => row)
  const longest = {
    ...report,
    rows,
    total: { ...row, target: undefined },
    fired,
    coverage: { blind_seconds: 1e12, blind },
  }
  expect(slackProblems(sent({ ...DAILY, report: longest }))).toEqual([])
  expect(slackProblems(sent({ ...FIRST, report: longest, setUp: rows.map(() => name) }))).toEqual([])
})

describe('whatever a message is made of', () => {
  test('Slack accepts it', () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        expect(slackProblems(sent(message, AT))).toEqual([])
      }),
      parameters,
    )
  })

  test('it mentions no user, links to nothing but the pages of alerts, and turns no direction', () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        const { mrkdwn, plain, verbatim } = textsOf(sent(message))
        expect(verbatim).toBe(true)
        for (const text of mrkdwn) expect(text.replaceAll(SLACK_ALERT_LINK, '')).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/)
        expect(mrkdwn[0]).not.toMatch(/@(?:here|channel|everyone)/i)
        for (const text of [...mrkdwn, ...plain]) {
          expect(text).not.toMatch(/[\u202A-\u202E\u2066\u2067]|(?![\n\t])\p{Cc}/u)
        }
      }),
      parameters,
    )
  })
})

describe('text from the configuration', () => {
  const NASTY = '<!channel> & <@U1> <https://evil.test|here> @here "quoted" :fire: *bold* `code`'
  const nasty = { ...FIRING, target: NASTY, alert: NASTY, description: `${NASTY} {labels}` }
  const inGroup = messageOf([nasty, nasty], { target: NASTY })

  test('is shown as it is in the title, and makes no emoji there', () => {
    const [title] = render(messageOf([{ ...FIRING, alert: 'A <!here> :fire: "*" & B' }])).blocks
    expect(title).toEqual({
      type: 'header',
      text: { type: 'plain_text', text: '🔴 critical: A <!here> :fire: "*" & B on production', emoji: false },
    })
  })

  test('is escaped where Slack reads it', () => {
    expect(render(inGroup).text).toContain('&lt;!channel&gt; &amp; &lt;@U1&gt;')
    expect(textsOf(render(inGroup)).mrkdwn.filter((text) => text.includes('&lt;!channel&gt; &amp;'))).toHaveLength(3)
  })

  test('makes a name neither formatting nor emoji: it is code, and cannot end it', () => {
    const named = { ...FIRING, alert: '<!channel> :fire: *bold* `code`' }
    const names = textsOf(render(messageOf([named, named]))).mrkdwn.filter((text) => text.startsWith('🔴 `'))
    expect(names).toHaveLength(2)
    for (const text of names) expect(text.split('\n')[0]).toMatch(/^🔴 `[^`]*:fire: \*bold\* 'code'`$/)
  })

  test('cannot begin a line of its own', () => {
    const forged = { ...FIRING, alert: 'A\n✅ resolved: B' }
    const { mrkdwn, plain } = textsOf(render(messageOf([forged, forged])))
    for (const text of [...mrkdwn, ...plain]) expect(text).not.toMatch(/^✅/m)
    expect(mrkdwn[1]).toMatch(/^🔴 `A ✅ resolved: B`\n/)
  })

  test('that runs from right to left keeps the numbers after it in their place', () => {
    const hebrew = { ...FIRING, alert: 'שיחות' }
    const { mrkdwn, plain } = textsOf(render(messageOf([hebrew, hebrew])))
    expect(mrkdwn[1]).toContain('`\u2068שיחות\u2069`')
    expect(textsOf(render(messageOf([hebrew]))).plain[0]).toBe('🔴 critical: \u2068שיחות\u2069 on production')
    expect(plain[0]).toBe('🔴 critical: 2 alerts on production')
  })

  test.each(['', '  \n', '\u0000'])(
    'that says nothing (%j) makes no block, which Slack would refuse',
    (description) => {
      const { description: _left, ...rest } = FIRING
      expect(render(messageOf([{ ...FIRING, description }]))).toEqual(render(messageOf([rest])))
    },
  )

  test('is shown of what fires, not of what has ended', () => {
    const rendered = [FIRING, REMINDER, RESOLVED, TOO_FEW].map((each) => JSON.stringify(render(messageOf([each]))))
    expect(rendered.map((text) => text.includes('Ask the carrier'))).toEqual([true, true, false, false])
  })
})

describe('of more alerts than there is room for', () => {
  test('ten are shown, the first three with all that is known, and the number of the others with a link to the page', () => {
    const pages = { overview: 'https://callwatch.test/', silence: 'https://callwatch.test/#silences' }
    const message = messageOf(SIXTY, { flapped: PASSED, links: pages })
    const { mrkdwn } = textsOf(render(message))
    const shown = mrkdwn.slice(1).join('\n').split('\n')
    expect(shown.filter((line) => line.startsWith('🔴')).map((line) => line.split(' ')[1])).toEqual(
      SIXTY.slice(0, 10).map(({ alert }) => `\`${alert}\``),
    )
    expect(shown.filter((line) => line.startsWith('*Outcomes*'))).toHaveLength(3)
    expect(shown.at(-1)).toBe('and 52 more')
    expect(render(message).blocks.at(-1)).toMatchObject({
      elements: [
        { text: { text: 'Overview' }, url: pages.overview },
        { text: { text: 'Silence all' }, url: pages.silence },
      ],
    })
  })

  test('those that are silenced or inhibited are a line all the same', () => {
    const all = Array.from({ length: 100 }, (_, i) => ({ alert: `Alert${i}`, target: 'production' }))
    const silenced = all.map((each, i) => ({ ...each, until: AT + (i % 9), reason: 'x'.repeat(150), author: 'ann' }))
    const inhibited = all.map((each) => ({ ...each, severity: 'info' as const }))
    const { plain, mrkdwn } = textsOf(render(messageOf([FIRING], { silenced, inhibited })))
    const line =
      /^🔕 Silenced: 12 alerts until .* by ann \(x{57}…\); 11 alerts until .*; 11 alerts until .*; and 6 more$/
    const [lower] = plain.filter((text) => text.includes('Alert0'))
    expect(lower).toBe('Also firing: Alert0 (info); Alert1 (info); Alert2 (info); and 97 more')
    expect(mrkdwn.find((text) => text.includes('Silenced'))).toMatch(line)
  })

  test('a silence is said alike on one target and on several: until when, by whom and why', () => {
    const silenced = [{ alert: 'High', target: 'production', until: AT, reason: 'deploy', author: 'ann' }]
    const lineOf = (target: string | undefined) =>
      textsOf(render(messageOf([FIRING], { silenced, target })))
        .mrkdwn.join('\n')
        .match(/Silenced: .*/)?.[0]
    expect(lineOf('production')).toBe('Silenced: High until 2026-11-20 08:15:30 UTC by ann (deploy)')
    expect(lineOf(undefined)).toBe('Silenced: High on production until 2026-11-20 08:15:30 UTC by ann (deploy)')
  })

  test('a single title that is too long keeps the target', () => {
    const [title] = textsOf(render(messageOf([{ ...FIRING, alert: 'x'.repeat(500) }]))).plain
    expect(title).toMatch(/^🔴 critical: x{50,}… on production$/)
  })
})

describe('a message that could not be sent', () => {
  test.each([
    [120, []],
    [121, ['first tried 2026-11-20 08:15:30 UTC, delivered 2m 1s later']],
    [3 * 86_400, ['first tried 2026-11-20 08:15:30 UTC, delivered 3d later']],
    [-3600, []],
  ])('for %d s says so', (waited, notes) => {
    const { mrkdwn } = textsOf(render(messageOf([RESOLVED], { failingSince: AT }), AT + waited))
    expect(mrkdwn.filter((text) => /first tried/.test(text))).toEqual(notes)
  })

  test('is late since what it says began or ended, not since the receiver failed', () => {
    const failing = { failingSince: AT - 3600 }
    const late = (one: Notification) => textsOf(render(messageOf([one], failing), AT + 200)).mrkdwn.join()
    expect([FIRING, RESOLVED].map(late)).toEqual(
      Array.from({ length: 2 }, () =>
        expect.stringContaining('first tried 2026-11-20 08:15:30 UTC, delivered 3m 20s later'),
      ),
    )
  })

  test('says nothing of that if it waited on purpose', () => {
    const { mrkdwn } = textsOf(render(messageOf([RESOLVED]), AT + 3600))
    expect(mrkdwn.filter((text) => /later/.test(text))).toEqual([])
  })

  test('says of what fires how long that is by now', () => {
    const fields = textsOf(render(messageOf([FIRING]), AT + 3600)).mrkdwn
    expect(fields).toContain('*Since*\n2026-11-20 08:13:30 UTC (1h 2m)')
  })
})

describe('the title', () => {
  const title = (message: Message) => textsOf(render(message)).plain[0]

  test.each([
    [[FIRING], '🔴 critical: HighFailureRate on production'],
    [[RESOLVED], '✅ resolved: HighFailureRate on production'],
    [[TOO_FEW], '⚪ expired, not resolved: HighFailureRate on production'],
    [[SIGNALS.failure_ratio], '🔴 critical: VideoRejected (type=video) on production'],
    [[FIRING, NO_POLL], '🔴 critical: 2 alerts on production'],
    [[FIRING, REMINDER], '🔴 critical: 2 alerts on production'],
    [[{ ...FIRING, value: 0.25 }], '🟡 critical: HighFailureRate on production'],
    [[{ ...FIRING, value: 0.25 }, NO_POLL], '🔴 critical: 2 alerts on production'],
    [[RESOLVED, RESOLVED], '✅ resolved: 2 alerts on production'],
    [[TOO_FEW, REMOVED], '⚪ expired, not resolved: 2 alerts on production'],
    [[FIRING, RESOLVED, RESOLVED], '🔴 critical: 1 firing, 2 resolved on production'],
    [[RESOLVED, TOO_FEW], '⚪ 1 resolved, 1 expired, not resolved on production'],
  ])('%#: $1', (alerts, expected) => {
    expect(title(messageOf(alerts))).toBe(expected)
  })

  test('says of a reminder that it still fires', () => {
    const titleOf = (...alerts: Notification[]) => title(messageOf(alerts, { about: 'reminder' }))
    expect(titleOf(REMINDER)).toBe('🔴 still critical: HighFailureRate on production')
    expect(titleOf(REMINDER, REMINDER)).toBe('🔴 still critical: 2 alerts on production')
  })

  test('says of what severity', () => {
    const severe = (severity: 'critical' | 'warning' | 'info') =>
      title(messageOf([{ ...FIRING, severity }], { severity }))?.split(':')[0]
    expect([severe('critical'), severe('warning'), severe('info')]).toEqual(['🔴 critical', '🟠 warning', '🔵 info'])
    const warning = { ...FIRING, severity: 'warning' } as const
    expect(title(messageOf([FIRING, warning], { severity: 'warning' }))).toBe('🟠 warning: 2 alerts on production')
    expect(title(messageOf([warning]))).toBe('🟠 warning: HighFailureRate on production')
  })
})

describe('buttons', () => {
  const { runbookUrl: _url, ...bare } = NO_POLL
  test.each([`https://runbooks.test/${'x'.repeat(3000)}`, 'javascript:alert(1)', 'runbooks.test', 'https://'])(
    'of an address that Slack would refuse are left out, and the message is kept: %#',
    (runbookUrl) => {
      const message = render(messageOf([{ ...FIRING, runbookUrl }]))
      expect(JSON.stringify(message)).not.toContain('Runbook')
      expect(message.blocks.map(({ type }) => type)).not.toContain('actions')
    },
  )

  test('beside each alert of a group lead to its own runbook', () => {
    const { blocks } = render(messageOf(GROUP))
    const urls = blocks.flatMap((block) => ('accessory' in block ? block.accessory : []))
    expect(urls).toMatchObject([
      { url: 'https://runbooks.test/failures' },
      { url: 'https://runbooks.test/stuck' },
      { url: 'https://runbooks.test/failures' },
    ])
  })

  test('of a message about several targets lead to the runbook of its most severe alerts', () => {
    const [worse, better] = ['VeryHighFailureRate', 'HighFailureRate'].map((alert, i) => ({
      ...FIRING,
      alert,
      severity: i === 0 ? ('critical' as const) : ('warning' as const),
      runbookUrl: `https://runbooks.test/${alert}`,
    }))
    const runbooks = (...alerts: (typeof FIRING)[]) =>
      JSON.stringify(render(messageOf(alerts, { target: undefined }))).match(/runbooks.test\/\w+/g)
    expect(runbooks(better!, worse!)).toEqual(['runbooks.test/VeryHighFailureRate'])
    expect(runbooks(worse!, { ...worse!, runbookUrl: 'https://runbooks.test/other' })).toEqual(runbooks(worse!))
  })

  test.each([
    ['several targets of which some have ended', { target: undefined, incident: incidentOf([bare]) }],
    ['alerts that are over', { flapped: PASSED.map((each) => ({ ...each, notification: bare })) }],
  ])('of a message about %s lead to the runbook on the page, too', (_about, given) => {
    const links = { overview: 'https://callwatch.test/', silence: '' }
    const message = JSON.stringify(render(messageOf([], { ...given, links })))
    expect(message).toContain('"https://callwatch.test/runbooks/NoGoodPoll"')
  })

  describe('that silence', () => {
    const pages = { overview: 'https://callwatch.test/', silence: 'https://callwatch.test/?all#silences' }
    const own = { ...update(FIRING), links: links('a') }
    const buttons = (given: Parameters<typeof messageOf>) =>
      JSON.stringify(render(messageOf(...given)).blocks.at(-1)).match(/(?<=text":")[A-Z][a-z ]*/g)

    test('cover all that fires of the incident on the target, also in a message about one of its alerts', () => {
      const incident = incidentOf([FIRING, { ...NO_POLL, key: 'b' }])
      const message = render(messageOf([own], { incident, links: pages }))
      const actions = message.blocks.at(-1)
      expect(actions).toMatchObject({
        elements: expect.arrayContaining([expect.objectContaining({ url: pages.silence })]),
      })
      expect(buttons([[own], { incident, links: pages }])).toEqual([
        'Alert',
        'Calls',
        'Overview',
        'Runbook',
        'Silence all',
      ])
      expect(buttons([[own], { links: pages }])!.at(-1)).toBe('Silence')
      // What the button silences is not the alert that the message names.
      const ended = { ...update(RESOLVED), links: own.links }
      expect(buttons([[ended], { incident: incidentOf([FIRING]), links: pages }])!.at(-1)).toBe('Silence all')
      expect(JSON.stringify(actions)).not.toContain(own.links.silence)
    })

    test.each([
      ['one alert', [own], 601],
      ['several', [own, own], 251],
    ] as const)(
      'of a message about %s are on the linked overview if names are too long for an address',
      (_of, alerts, length) => {
        const silence = pages.silence.padEnd(length, 'x')
        const incident = incidentOf([FIRING, { ...NO_POLL, key: 'b' }])
        const shown = buttons([alerts, { incident, links: { ...pages, silence } }])
        expect(shown).toContain('Overview')
        expect(shown).not.toContain('Silence all')
      },
    )
  })

  test('beside each alert of a group are left out of an address that is too long for several', () => {
    const runbookUrl = 'https://runbooks.test/'.padEnd(251, 'x')
    expect(JSON.stringify(render(messageOf(SIXTY.map((alert) => ({ ...alert, runbookUrl })))))).not.toContain('Runbook')
  })

  test('are not there without addresses', () => {
    const { blocks } = slackMessage(messageOf([bare]), { now: AT })
    expect(blocks.map(({ type }) => type)).toEqual(['header', 'section', 'section', 'section', 'context'])
  })
})
