import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Notification } from '../../src/alerts/notification.ts'
import { slackMessage } from '../../src/notify/slack-message.ts'
import { AT, FIRING, NO_POLL, POLLS_AGAIN, REMOVED, RESOLVED, TOO_FEW } from './sample.ts'

const DASHBOARD = 'https://grafana.test/d/callwatch'

function message(notification: Notification, now = AT, dashboardUrl: string | undefined = DASHBOARD) {
  return slackMessage(notification, { now, dashboardUrl })
}

/** Every text in a message, with what it is in. */
function texts(value: unknown, within = 'message'): { within: string; text: string }[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'text' && typeof inner === 'string'
      ? [{ within, text: inner }]
      : texts(inner, 'type' in value && typeof value.type === 'string' ? value.type : within),
  )
}

const all = (notification: Notification, now = AT) => JSON.stringify(message(notification, now))

test.each<[string, Notification, number]>([
  ['firing', FIRING, AT + 11],
  ['firing-warning', { ...FIRING, severity: 'warning', reason: 'rejected', value: 0.3, threshold: 0.25 }, AT],
  ['firing-late', FIRING, AT + 3 * 3600],
  ['resolved', RESOLVED, AT],
  ['closed-too-few-calls', TOO_FEW, AT],
  ['closed-rule-removed', REMOVED, AT],
  ['no-good-poll', NO_POLL, AT],
  ['polls-again', POLLS_AGAIN, AT],
])('the message that is %s is as reviewed', async (name, notification, now) => {
  await expect(`${JSON.stringify(message(notification, now), undefined, 2)}\n`).toMatchFileSnapshot(
    `fixtures/${name}.json`,
  )
})

describe('text from the configuration', () => {
  const NASTY = '<!channel> & <@U1> <https://evil.test|here>'

  test('can mention nobody, wherever it stands', () => {
    const nasty = { ...FIRING, target: NASTY, alert: NASTY, description: `${NASTY} {labels}` }
    for (const { within, text } of texts(message(nasty))) {
      // Plain text is shown as it is.
      if (within === 'header') expect(text).toContain('<!channel>')
      else expect(text).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/)
    }
    expect(message(nasty).text).toContain('&lt;!channel&gt; &amp; &lt;@U1&gt;')
  })

  test('is not searched for links and mentions that nobody made', () => {
    const found = all(FIRING).match(/"type":"mrkdwn"[^}]*/g)!
    expect(found.length).toBeGreaterThan(3)
    for (const markdown of found) expect(markdown).toContain('"verbatim":true')
  })

  test.each(['', '  \n'])('that says nothing (%j) makes no block, which Slack would refuse', (description) => {
    const { description: _left, ...without } = FIRING
    expect(message({ ...FIRING, description })).toEqual(message(without))
  })
})

describe('the limits of Slack', () => {
  test.each([
    ['x'.repeat(10_000), 'long'],
    ['&'.repeat(10_000), 'escaped'],
    ['😀'.repeat(10_000), 'of two units each'],
    [`a${'😀'.repeat(10_000)}`, 'of two units each, from an odd place'],
  ])('hold for names and texts that are very %#: $1', (text) => {
    for (const notification of [FIRING, RESOLVED, TOO_FEW, NO_POLL]) {
      const long = { ...notification, target: text, alert: text, description: text }
      const { blocks = [], text: fallback = '' } = message(long)
      expect(fallback.length).toBeLessThanOrEqual(3000)
      expect(blocks.length).toBeLessThanOrEqual(50)
      for (const block of blocks) {
        const limit = block.type === 'header' ? 150 : 'fields' in block ? 2000 : 3000
        for (const part of texts(block)) expect(part.text.length, block.type).toBeLessThanOrEqual(limit)
        if ('fields' in block) expect(block.fields?.length).toBeLessThanOrEqual(10)
      }
    }
  })

  test('cut neither within a character nor within an escaped one', () => {
    const letters = fc.array(fc.constantFrom('😀', '&', '<', 'x', 'ü'), { minLength: 1, maxLength: 9 })
    fc.assert(
      fc.property(letters, (some) => {
        const text = some.join('').repeat(3000)
        for (const { within, text: shown } of texts(message({ ...FIRING, target: text, description: text }))) {
          expect(shown.isWellFormed()).toBe(true)
          if (within !== 'header') expect(shown).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/)
        }
      }),
    )
  })

  test('leave a button out whose address is too long, and keep the message', () => {
    const runbookUrl = `https://runbooks.test/${'x'.repeat(3000)}`
    expect(JSON.stringify(message({ ...FIRING, runbookUrl }))).not.toContain('Runbook')
    expect(message({ ...FIRING, runbookUrl }).blocks?.at(-1)).toMatchObject({
      type: 'actions',
      elements: [{ url: DASHBOARD }],
    })
  })
})

describe('a message that waited', () => {
  test.each([
    [120, undefined],
    [121, 'made 2026-11-20 08:15:30 UTC, delivered 2m 1s later: it may have changed since'],
    [3 * 86_400, 'made 2026-11-20 08:15:30 UTC, delivered 3d later: it may have changed since'],
  ])('%d s says: %s', (waited, note) => {
    const notes = texts(message(RESOLVED, AT + waited)).filter(({ text }) => text.startsWith('made'))
    expect(notes.map(({ text }) => text)).toEqual(note === undefined ? [] : [note])
  })
})

test('the description is told of what fires, not of what is over', () => {
  const said = [FIRING, RESOLVED, TOO_FEW].map((notification) => all(notification).includes('Ask the carrier'))
  expect(said).toEqual([true, false, false])
})

test('without addresses there are no buttons', () => {
  const { blocks = [] } = slackMessage(NO_POLL, { now: AT, dashboardUrl: undefined })
  expect(blocks.map(({ type }) => type)).toEqual(['header', 'section', 'section', 'context'])
})
