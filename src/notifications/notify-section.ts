import { z } from 'zod'
import { MATCH_KEYS, SEVERITIES } from '../alerts/match.ts'
import { labelValues } from '../alerts/rule-keys.ts'
import { cronStart, neverEnds } from './cron-start.ts'
import { duration, longestTimer } from '../schema/duration.ts'
import { formatDuration } from '../schema/duration-text.ts'
import { messageReceiverNames, receiverNames, receivers, type ReceiverName } from './receivers.ts'
import { isMap } from '../schema/path.ts'
import { oneOf, someOf, text, timeOfDay, timezone } from '../schema/scalars.ts'
import { labelMap, section } from '../schema/section.ts'

const digest = section({
  at: timeOfDay().describe('When the summary of the day before is sent, HH:MM'),
  timezone: timezone().prefault('UTC').describe('Time zone of `at` and of the day (IANA name)'),
})

/** Selects alerts; each label that is given must be theirs. */
export function alertMatch() {
  return labelMap({
    alert: text('the name of a rule').optional().describe('Name of the rule'),
    severity: oneOf(SEVERITIES).optional().describe('Severity of the rule'),
    target: text('the name of a target').optional().describe('Name of the target'),
    ...labelValues(),
  })
}

const route = section({
  match: alertMatch().prefault({}).describe('Which alerts; default: all'),
  notify: someOf(messageReceiverNames).describe('Their recipients; []: none'),
})

const inhibition = section({
  source_match: alertMatch().describe('Which alerts inhibit others while they fire'),
  target_match: alertMatch().describe('Which alerts are inhibited'),
  equal: z
    .array(oneOf(MATCH_KEYS))
    .prefault(['target'])
    .describe('What both must have in common; a label that neither has is in common, too'),
})

const mute = section(
  {
    start: cronStart().describe('When it begins: minute, hour, day of the month, month, day of the week'),
    duration: duration().describe('How long it lasts'),
    timezone: timezone().prefault('UTC').describe('Time zone of `start` (IANA name)'),
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
export const notifySection = section(
  {
    group_wait: duration({ min: 0, max: longestTimer })
      .prefault('10s')
      .describe('How long a first alert waits for others, to be sent in one message; 0: not at all'),
    ...receiverSections(),
    digest: digest.optional().describe('A daily summary; default: none'),
    routes: z
      .array(route)
      .prefault([])
      .describe(
        'Recipients of alerts: the first route that matches an alert counts; one that none matches is sent to all',
      ),
    inhibit: z
      .array(inhibition)
      .prefault([])
      .describe('Alerts that are not notified while others fire, beside those of a higher severity'),
    mutes: z.array(mute).prefault([]).describe('Times at which the alerts that they match are not notified'),
  },
  (notify, report) => {
    if (!Array.isArray(notify.routes)) return
    notify.routes.forEach((item: unknown, index) => {
      const names: unknown = isMap(item) ? item['notify'] : undefined
      if (!Array.isArray(names)) return
      for (const name of messageReceiverNames) {
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

/** Durations are in seconds. */
export type NotifyConfig = z.output<typeof notifySection>

/** A key for each receiver. */
function receiverSections() {
  type Sections = { [Name in ReceiverName]: z.ZodOptional<(typeof receivers)[Name]['section']> }
  const entries = receiverNames.map((name) => [
    name,
    receivers[name].section.optional().describe(receivers[name].about),
  ])
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the language cannot follow a list's entries
  return Object.fromEntries(entries) as Sections
}
