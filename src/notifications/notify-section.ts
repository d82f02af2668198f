import { z } from 'zod'
import { MATCH_KEYS, SEVERITIES } from '../alerts/match.ts'
import { labelValues } from '../alerts/rule-keys.ts'
import { cronStart, neverEnds } from './cron-start.ts'
import { duration, longestTimer } from '../schema/duration.ts'
import { formatDuration } from '../schema/duration-text.ts'
import { checkReceivers } from './check-receivers.ts'
import { alertReceiverNames, receiverNames, receivers, type ReceiverName } from './receivers.ts'
import { eachOnce, nameOfTarget, oneOf, text, timeOfDay, timezone } from '../schema/scalars.ts'
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
  notify: eachOnce(text('the name of a receiver')).describe('The names of their recipients; []: none'),
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

const namedReceiver = section(
  {
    name: nameOfTarget().describe('Its name: in routes, metrics and the log; what waits for it is kept by this name'),
    ...receiverSections(alertReceiverNames),
  },
  (item, report) => {
    const types = alertReceiverNames.filter((type) => item[type] !== undefined)
    if (types.length === 1) return
    const [what, which] = types.length === 0 ? ['no type of receiver', alertReceiverNames] : ['several types', types]
    report([], `found ${what}; expected one of ${which.map((type) => `\`${type}\``).join(', ')}`)
  },
).meta({ minProperties: 2, maxProperties: 2 })

/** The section `notify`. */
export const notifySection = section(
  {
    group_wait: duration({ min: 0, max: longestTimer })
      .prefault('10s')
      .describe('How long a first alert waits for others, to be sent in one message; 0: not at all'),
    ...receiverSections(receiverNames),
    receivers: z
      .array(namedReceiver)
      .prefault([])
      .describe('Further receivers, any number of each type; those above are short for one named like its key'),
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
  checkReceivers,
)

/** Durations are in seconds. */
export type NotifyConfig = z.output<typeof notifySection>

/** A key for each of these receivers. */
function receiverSections<Name extends ReceiverName>(names: readonly Name[]) {
  type Sections = { [Each in Name]: z.ZodOptional<(typeof receivers)[Each]['section']> }
  const entries = names.map((name) => [name, receivers[name].section.optional().describe(receivers[name].about)])
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the language cannot follow a list's entries
  return Object.fromEntries(entries) as Sections
}
