import { z } from 'zod'
import { labelValues } from './rules/call-labels.ts'
import { cronStart, neverEnds } from './cron-start.ts'
import { duration, formatDuration, longestTimer } from './duration.ts'
import { httpHeaders } from './http-headers.ts'
import { missingSecret } from './missing-secret.ts'
import { isMap } from '../path.ts'
import {
  aSecret,
  address,
  fileName,
  link,
  nearbyBaseAddress,
  oneOf,
  someOf,
  text,
  timeOfDay,
  timezone,
} from './scalars.ts'
import { labelMap, section } from './section.ts'

const slack = section(
  {
    webhook_url: address().optional().describe('Incoming webhook; a secret').meta(aSecret('SLACK_WEBHOOK_URL')),
    webhook_url_file: fileName().optional().describe('File that holds the webhook, in place of webhook_url'),
    dashboard_url: link().optional().describe('Linked in the message'),
  },
  missingSecret('webhook_url', 'the webhook'),
)

const alertmanager = section({
  url: nearbyBaseAddress().describe('Its own address, without /api/v2/alerts'),
})

const webhook = section(
  {
    url: address().optional().describe('Gets each message as JSON; a secret').meta(aSecret('WEBHOOK_URL')),
    url_file: fileName().optional().describe('File that holds the address, in place of url'),
    headers: httpHeaders().prefault({}).describe('Sent with each request; the values are secrets'),
  },
  missingSecret('url', 'the address'),
)

const heartbeat = section(
  {
    url: address().optional().describe('Called while evaluation works; a secret').meta(aSecret('HEARTBEAT_URL')),
    url_file: fileName().optional().describe('File that holds the address, in place of url'),
    interval: duration({ max: longestTimer }).prefault('1m').describe('How often it is called'),
  },
  missingSecret('url', 'the address'),
)

const digest = section({
  at: timeOfDay().describe('When the summary of the day before is sent, HH:MM'),
  timezone: timezone().prefault('UTC').describe('Where it is that time, and where the day begins'),
})

/** Picks alerts; each label that is given must be theirs. */
export function alertMatch() {
  return labelMap({
    alert: text('the name of a rule').optional().describe('Name of the rule'),
    severity: oneOf(['critical', 'warning', 'info']).optional().describe('Severity of the rule'),
    target: text('the name of a target').optional().describe('Name of the target'),
    ...labelValues(),
  })
}

const route = section({
  match: alertMatch().prefault({}).describe('Which alerts; default: all'),
  notify: someOf(['slack', 'webhook']).describe('Who is told of them; []: nobody'),
})

const mute = section(
  {
    start: cronStart().describe('When it begins: minute, hour, day of the month, month, day of the week'),
    duration: duration().describe('How long it lasts'),
    timezone: timezone().prefault('UTC').describe('Where it is that time'),
    match: alertMatch().prefault({}).describe('Which alerts; default: all'),
  },
  ({ start, duration: lasts }, report) => {
    if (typeof start !== 'string' || typeof lasts !== 'number' || !neverEnds(start, lasts)) return
    report(
      ['duration'],
      `found ${formatDuration(lasts)}, and \`start\` comes again by then, so that the mute never ends; ` +
        'expected less than the time between two starts',
    )
  },
)

/** The section `notify`. */
export const notifySchema = section(
  {
    group_wait: duration({ min: 0, max: longestTimer })
      .prefault('10s')
      .describe('How long a first alert waits for others, to go out in one message; 0: not at all'),
    slack: slack.optional().describe('A channel'),
    alertmanager: alertmanager
      .optional()
      .describe('An Alertmanager that gets every alert, as Prometheus would send it'),
    webhook: webhook.optional().describe('An address of your own'),
    heartbeat: heartbeat.optional().describe('An address that notices when it is no longer called'),
    digest: digest.optional().describe('A daily summary; default: none'),
    routes: z
      .array(route)
      .prefault([])
      .describe('Who is told of what: the first that picks an alert counts; an alert that none picks goes to all'),
    mutes: z.array(mute).prefault([]).describe('Times at which the alerts that they pick are not told of'),
  },
  (notify, report) => {
    if (!Array.isArray(notify.routes)) return
    notify.routes.forEach((item: unknown, index) => {
      const names: unknown = isMap(item) ? item['notify'] : undefined
      if (!Array.isArray(names)) return
      for (const name of ['slack', 'webhook'] as const) {
        const position = names.indexOf(name)
        if (position === -1 || notify[name] !== undefined) continue
        report(
          ['routes', index, 'notify', position],
          `\`${name}\` is not configured; expected \`notify.${name}\` as well`,
        )
      }
    })
  },
)
