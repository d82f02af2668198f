import { z } from 'zod'
import { PERIODS } from '../clock/calendar.ts'
import { text, eachOnce, nameText, oneOf, timeOfDay, timezone } from '../schema/scalars.ts'
import { mapsIn } from '../schema/path.ts'
import { unknownName } from '../schema/nearest-key.ts'
import { MATCH_KEYS, MATCH_VALUES } from '../alerts/match-keys.ts'
import { isPattern, matchesValue, patternProblem } from '../alerts/match.ts'
import { duration, longestTimer } from '../schema/duration.ts'
import { formatDuration } from '../schema/duration-text.ts'
import { labelMap, section, type ReportProblem } from '../schema/section.ts'
import type { ReceiverType } from './receiver.ts'
import { messageReceiverNames, receiverNames, receivers, namedReceiverNames, type ReceiverName } from './receivers.ts'
import { cronStart, neverEnds } from './cron-start.ts'

type AnyMap = Readonly<Record<string, unknown>>

/** Cross-checks the names of receivers, and the routes that name them. Any value may be missing or invalid. */
function checkReceivers(notify: AnyMap, report: ReportProblem): void {
  const named = mapsIn(notify['receivers'])
  const shorthands = receiverNames.filter((type) => notify[type] !== undefined)
  const all = [...shorthands.map((type) => ({ name: type, [type]: notify[type] })), ...named]
  /** What has a name already. */
  const taken = new Map<unknown, string>(
    shorthands.map((type) => [type, `the same name as \`notify.${type}\``] as const),
  )
  named.forEach(({ name }, index) => {
    if (!isName(name)) return
    const problem = taken.get(name)
    if (problem !== undefined) report(['receivers', index, 'name'], `${problem}; expected a name of its own`)
    else taken.set(name, `the same name as \`receivers[${index}]\``)
  })
  for (const [list, key] of [
    ['routes', 'notify'],
    ['reports', 'receivers'],
  ] as const)
    for (const [index, item] of mapsIn(notify[list]).entries())
      for (const [position, name] of listIn(item[key]).entries()) {
        const problem = isName(name) ? routeProblem(name, all) : undefined
        if (problem !== undefined) report([list, index, key, position], problem)
      }
  checkReports(mapsIn(notify['reports']), report)
}

/** A receiver remembers the latest report of each kind, so it can get one of each kind only. */
function checkReports(reports: readonly AnyMap[], report: ReportProblem): void {
  for (const [index, { every, receivers }] of reports.entries()) {
    const before = reports.slice(0, index).findIndex((other) => {
      const names = listIn(other['receivers'])
      const isShared =
        receivers === undefined ||
        other['receivers'] === undefined ||
        names.some((name) => listIn(receivers).includes(name))
      return other['every'] === every && isShared
    })
    if (before === -1) continue
    const expected = 'expected other `receivers`, since each gets one report of a kind'
    report(['reports', index], `\`reports[${before}]\` has the same \`every\` for the same receiver; ${expected}`)
  }
}

const listIn = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const isName = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** Why a route cannot name a receiver like this. */
function routeProblem(name: string, all: readonly AnyMap[]): string | undefined {
  const names = all.filter((one) => notRouted(one) === undefined).map((one) => one['name'])
  if (names.includes(name)) return undefined
  const why = notRouted(all.find((one) => one['name'] === name) ?? {})
  if (why !== undefined) return `${why}; expected a receiver of messages`
  const shorthand = messageReceiverNames.find((type) => type === name)
  if (shorthand !== undefined) return `\`${shorthand}\` is not configured; expected \`notify.${shorthand}\` as well`
  return unknownName(name, 'receiver', names, '`[]`')
}

function notRouted(receiver: AnyMap): string | undefined {
  const type: ReceiverType | undefined = receivers[receiverNames.find((name) => receiver[name] !== undefined)!]
  return type?.notRouted
}

const report = section({
  every: oneOf(PERIODS).describe('The period of the report'),
  at: timeOfDay().describe('When it is sent, HH:MM'),
  timezone: timezone().prefault('UTC').describe('Time zone of `at` and of the days'),
  receivers: eachOnce(text('the name of a receiver'))
    .optional()
    .describe('Names of the receivers that get it; default: all but Alertmanager'),
})

/** Selects alerts. Each given value must equal the alert's, or be an expression that matches it. */
export const alertMatch = labelMap({
  alert: matched('the name of a rule', 'Name of the rule'),
  severity: matched('', 'Severity of the rule', MATCH_VALUES.severity),
  target: matched('the name of a target', 'Name of the target'),
  type: matched('', 'The type of the call', MATCH_VALUES.type),
  mode: matched('', 'The mode of the call; only `call` rings', MATCH_VALUES.mode),
  receiver_type: matched('', 'Whom the call is for', MATCH_VALUES.receiver_type),
})

/** A value of a match: a text or one of the given words, or `=~` and an expression that matches one of them. */
function matched(what: string, about: string, words?: readonly string[]) {
  const listed = words?.map((word) => `\`${word}\``).join(', ')
  const expected = `${listed === undefined ? what : `one of ${listed}`}, or a regular expression after \`=~\``
  const schema = z
    .string({ error: expected })
    .min(1, { error: expected, abort: true })
    .superRefine((value, context) => {
      const problem = patternProblem(value)
      if (problem !== undefined) context.addIssue({ code: 'custom', message: problem, params: { sentence: true } })
      else if (words !== undefined && !words.some((word) => matchesValue(value, word))) {
        const message = isPattern(value) ? `${expected} that matches one of them` : expected
        context.addIssue({ code: 'custom', message })
      }
    })
  const forEditors = words === undefined ? schema : schema.meta({ pattern: `^(=~.+|${words.join('|')})$` })
  return forEditors.optional().describe(listed === undefined ? about : `${about} (${listed})`)
}

const labels = z.array(oneOf(MATCH_KEYS))
const groupTime = duration({ min: 0, max: longestTimer })

const route = section({
  match: alertMatch.prefault({}).describe('Which alerts; default: all. `=~` begins a regular expression'),
  notify: eachOnce(text('the name of a receiver')).describe('Names of the receivers; []: none'),
  group_by: labels.optional().describe('Instead of `notify.group_by`, for these alerts'),
})

const inhibition = section({
  source_match: alertMatch.describe('Alerts that inhibit others'),
  target_match: alertMatch.describe('Alerts that are inhibited'),
  equal: labels.prefault(['target']).describe('Labels that both alerts must have in common'),
})

const mute = section(
  {
    start: cronStart().describe('When it begins: minute, hour, day, month, weekday'),
    duration: duration().describe('How long it lasts'),
    timezone: timezone().prefault('UTC').describe('Time zone of `start`'),
    match: alertMatch.prefault({}).describe('Which alerts; default: all'),
  },
  ({ start, duration: lasts }, report) => {
    if (typeof start !== 'string' || typeof lasts !== 'number' || !neverEnds(start, lasts)) return
    report(
      ['duration'],
      `found ${formatDuration(lasts)}, but \`start\` comes again by then, so the mute would never end; ` +
        'expected less than the time between two starts',
    )
  },
)

const namedReceiver = section(
  {
    name: nameText().describe('Its name, in routes, metrics and the log'),
    ...receiverSections(namedReceiverNames),
  },
  (item, report) => {
    const types = namedReceiverNames.filter((type) => item[type] !== undefined)
    if (types.length === 1) return
    const [what, which] = types.length === 0 ? ['no type of receiver', namedReceiverNames] : ['several types', types]
    report([], `found ${what}; expected one of ${which.map((type) => `\`${type}\``).join(', ')}`)
  },
).meta({ minProperties: 2, maxProperties: 2 })

const notifyKeys = section(
  {
    group_by: labels
      .prefault(['alert', 'severity'])
      .describe('Alerts with the same values of these are one message; []: all alerts'),
    group_wait: groupTime
      .optional()
      .describe('How long the first alert of a group waits for others; default: 20s to 30s'),
    group_interval: groupTime.prefault('5m').describe('Minimum time between messages of a group; 0: none'),
    ...receiverSections(receiverNames),
    receivers: listOf(namedReceiver).describe(
      'More receivers, each with a name; the key `slack` is short for one named so',
    ),
    timezone: timezone().optional().describe('Time zone in mails, beside UTC; default: UTC only'),
    reports: listOf(report).describe('Daily, weekly and monthly reports'),
    routes: listOf(route).describe('Which receivers get which alerts: the first match decides; without one, all do'),
    inhibit: listOf(inhibition).describe('Alerts that are not sent while others fire, besides less severe ones'),
    mutes: listOf(mute).describe('Recurring times at which alerts are not sent'),
  },
  checkReceivers,
)

type NotifyKeys = z.output<typeof notifyKeys>

/** A receiver as it is configured. */
export type ConfiguredReceiver = {
  [Type in ReceiverName]: { name: string; type: Type; config: NonNullable<NotifyKeys[Type]> }
}[ReceiverName]

/**
 * The section with durations in seconds. All receivers are in one list. Receivers given under a type's key come first, named
 * like the key.
 */
export type NotifyConfig = Omit<NotifyKeys, ReceiverName | 'receivers'> & { receivers: ConfiguredReceiver[] }

/** Why receivers cannot work although the section is valid. */
export function receiverWarnings({ receivers: all }: NotifyConfig): string[] {
  return all.flatMap(({ name, type, config }) => {
    const receiver: ReceiverType = receivers[type]
    const warning = receiver.warning?.(config)
    return warning === undefined ? [] : [`the receiver ${name}: ${warning}`]
  })
}

/** The section `notify`. */
export const notifySection = z.codec(notifyKeys, z.custom<NotifyConfig>(), {
  decode: ({ receivers: named, ...notify }) => {
    const rest = Object.entries(notify).filter(([key]) => !receiverNames.some((type) => type === key))
    const own = receiverNames.map((type) => ({ name: type, [type]: notify[type] }))
    const all = [...own, ...named].flatMap(({ name, ...item }) =>
      Object.entries(item).flatMap(([type, config]) => (config === undefined ? [] : { name, type, config })),
    )
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the language cannot follow the entries
    return { ...Object.fromEntries(rest), receivers: all } as NotifyConfig
  },
  encode: ({ receivers: all, ...rest }) => {
    const own = all.filter(({ name, type }) => name === type).map(({ type, config }) => [type, config])
    const named = all.filter(({ name, type }) => name !== type)
    const listed = named.map(({ name, type, config }) => ({ name, [type]: config }))
    return { ...Object.fromEntries(own), receivers: listed, ...rest }
  },
})

/** A list that may be left out. */
function listOf<Item extends z.ZodType>(item: Item) {
  return z.array(item).prefault([])
}

/** An optional key for each of these receivers. */
function receiverSections<Name extends ReceiverName>(names: readonly Name[]) {
  type Sections = { [Each in Name]: z.ZodOptional<(typeof receivers)[Each]['section']> }
  const entries = names.map((name) => [name, receivers[name].section.optional().describe(receivers[name].about)])
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the language cannot follow a list's entries
  return Object.fromEntries(entries) as Sections
}
