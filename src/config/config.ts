import { z } from 'zod'
import { formatDuration } from '../schema/duration-text.ts'
import { isMap, mapsIn, placesLike, reportDuplicates, valueAt } from '../schema/path.ts'
import { isPattern, matchesValue, patternProblem } from '../alerts/match.ts'
import { unknownName } from '../schema/nearest-key.ts'
import { defaultRules } from '../alerts/default-rules.ts'
import { checkWindows, ruleSchema } from '../alerts/rule.ts'
import { eventsSection } from '../events/events-section.ts'
import { logSection } from '../log/log-section.ts'
import { notifySection } from '../notifications/notify-section.ts'
import { isLoopback } from '../network/loopback.ts'
import { pollSection } from '../polling/poll-section.ts'
import { section, snakeCase, type ReportProblem } from '../schema/section.ts'
import { hostOf } from '../schema/web-address.ts'
import { targetSection } from '../service/target-section.ts'
import { storeSection } from '../store/store-section.ts'
import { httpSection, type Certificate, type HttpConfig } from '../web/http-section.ts'

/** How much history a report needs: its days, and that on which it is sent (seconds). */
const REPORT_SECONDS = { day: 2 * 86_400, week: 8 * 86_400, month: 32 * 86_400 } as const

/** Cross-checks how far back reports read against how long finished calls are kept (seconds). */
function checkReports(notify: unknown, history: unknown, report: ReportProblem): void {
  if (typeof history !== 'number') return
  for (const [kind, seconds] of Object.entries(REPORT_SECONDS))
    if (history < seconds && mapsIn(valueAt(notify, ['reports'])).some(({ every }) => every === kind))
      report(
        ['store', 'history'],
        `found ${formatDuration(history)}, but \`notify.reports\` has one of each ${kind}; expected at least ${formatDuration(seconds)}`,
      )
}

/** The matches of alerts, by keys as the program sees them; `*` is any position in a list. */
const MATCHES = [
  ['notify', 'routes', '*', 'match'],
  ['notify', 'mutes', '*', 'match'],
  ['notify', 'inhibit', '*', 'sourceMatch'],
  ['notify', 'inhibit', '*', 'targetMatch'],
]

/** Where the file names rules and targets; in matches also by expressions. */
const NAMES = [
  ...MATCHES.flatMap((match) =>
    (['alert', 'target'] as const).map((of) => ({ path: [...match, of], of, isMatch: true })),
  ),
  { path: ['events', 'webhooks', '*', 'targets', '*'], of: 'target', isMatch: false } as const,
]

/**
 * Cross-checks the rules and targets that routes, mutes, inhibitions and webhooks name.
 *
 * @param known the names of all rules and targets
 */
function checkNames(file: unknown, known: Record<'alert' | 'target', readonly unknown[]>, report: ReportProblem): void {
  for (const { path, of, isMatch } of NAMES) {
    for (const place of placesLike(file, path)) {
      const name = valueAt(file, place)
      if (typeof name !== 'string' || name === '' || known[of].includes(name)) continue
      const isExpression = isMatch && isPattern(name)
      const isMatching = (one: unknown) => typeof one === 'string' && matchesValue(name, one)
      if (isExpression && (patternProblem(name) !== undefined || known[of].some(isMatching))) continue
      const thing = of === 'alert' ? 'rule' : of
      const shown = place.map((part) => (typeof part === 'number' ? part : snakeCase(String(part))))
      report(shown, unknownName(name, thing, known[of], `no \`${of}\``, isExpression))
    }
  }
}

/**
 * The schema of the configuration file, after interpolation, and after values from the environment and from secrets' files
 * were added. Decoding returns what the program needs. Encoding returns an equivalent file with all defaults, and with
 * complete addresses of the targets.
 */
export const configSchema = section(
  {
    targets: z.array(targetSection).prefault([]).describe('The apps to monitor, at least one'),
    poll: pollSection.prefault({}).describe('How the calls service is polled'),
    store: storeSection.prefault({}).describe('Where the counts are kept'),
    http: httpSection.prefault({}).describe('Where callwatch serves metrics, API and page'),
    notify: notifySection.prefault({}).describe('Receivers of notifications'),
    alerts: z.array(ruleSchema).prefault(defaultRules).describe('Alert rules; absent: the shipped rules; []: none'),
    events: eventsSection.prefault({}).describe('The log of events'),
    log: logSection.prefault({}).describe('The log: its level and form'),
  },
  (file, report) => {
    const [targets, rules] = [mapsIn(file.targets), mapsIn(file.alerts)]
    if (Array.isArray(file.targets) && file.targets.length === 0) report(['targets'], noTarget)
    const webhooks = mapsIn(valueAt(file, ['events', 'webhooks']))
    const names = { alert: rules.map(nameOf), target: targets.map(targetName) }
    const expectOwnNames = (path: string[], all: unknown[], which = '') =>
      reportDuplicates(all, (index, earlier) =>
        report(
          [...path, index, 'name'],
          `the same name as \`${path.at(-1)}[${earlier}]\`${which}; expected a name of its own`,
        ),
      )
    expectOwnNames(['targets'], names.target, ' (the name is `name`, else `app_id`, else the host of `base_url`)')
    checkFormerNames(targets, names.target, report)
    expectOwnNames(['alerts'], names.alert)
    expectOwnNames(['events', 'webhooks'], webhooks.map(nameOf))
    const history = valueAt(file, ['store', 'history'])
    checkWindows(rules, history, report, valueAt(file, ['poll', 'lookback']))
    checkReports(file.notify, history, report)
    checkNames(file, names, report)
    checkParticipants(file, report)
    checkInterval(file.poll, targets, report)
  },
)

/** A configured target keeps what it has, and only one other can continue what a former one had. */
function checkFormerNames(
  targets: readonly Record<string, unknown>[],
  names: readonly unknown[],
  report: ReportProblem,
): void {
  const former = targets.map(({ formerly }) => formerly)
  for (const [i, name] of former.entries()) {
    const index = typeof name === 'string' ? names.indexOf(name) : -1
    if (index === -1) continue
    const of = index === i ? 'its own name' : `the name of \`targets[${index}]\``
    report(['targets', i, 'formerly'], `found ${of}; expected the earlier name, which no target has any more`)
  }
  reportDuplicates(former, (index, earlier) =>
    report(
      ['targets', index, 'formerly'],
      `the same name as \`targets[${earlier}].formerly\`; expected a name of its own, since only one target continues another`,
    ),
  )
}

/** Seconds. */
const SHORTEST_INTERVAL = 1

/** User ids may be shown only to users with a password, or on this machine. */
function checkParticipants({ events, http }: { events?: unknown; http?: unknown }, report: ReportProblem): void {
  const { host = '127.0.0.1', auth } = isMap(http) ? http : {}
  if (!isMap(events) || events['participants'] !== true || auth !== undefined) return
  if (typeof host === 'string' && isLoopback(host)) return
  report(
    ['events', 'participants'],
    'other hosts could read user ids from the API without a password; set `http.auth`, or set `http.host` to 127.0.0.1',
  )
}

/** More than one poll a second would find nothing earlier, and would use up requests of others who use the app. */
function checkInterval(poll: unknown, targets: readonly Record<string, unknown>[], report: ReportProblem): void {
  const interval = isMap(poll) ? poll['interval'] : undefined
  // A target that failed its own checks still has the file's keys.
  const isLocal = ({ baseUrl, base_url: url = baseUrl }: Record<string, unknown>) =>
    typeof url === 'string' && isLoopback(URL.parse(url)?.hostname ?? '')
  if (typeof interval !== 'number' || interval >= SHORTEST_INTERVAL || targets.every(isLocal)) return
  report(['poll', 'interval'], 'callwatch polls the service at most once a second; expected `1s` or more')
}

/** A complete and checked configuration. Durations are in seconds. Keys without a value are absent. */
export type Config = Omit<Checked, 'http'> & {
  http: HttpConfig
  /** What is said of variables of the environment that callwatch does not know. */
  unknownVariables?: readonly string[]
}

type Checked = z.output<typeof configSchema>

/** Adds the content of the files of `http.tls` to a checked configuration. */
export function withCertificate({ http: { tls, ...http }, ...checked }: Checked, certificate?: Certificate): Config {
  return { ...checked, http: { ...http, ...(tls && certificate && { tls: { ...tls, ...certificate } }) } }
}

/** A configuration that the program makes itself, from a file's own form; without TLS. */
export function configOf(file: z.input<typeof configSchema>): Config {
  return withCertificate(configSchema.parse(file))
}

const noTarget =
  'no target to watch; expected CALLWATCH_APP_ID, CALLWATCH_REGION and CALLWATCH_API_KEY in the environment, ' +
  'or `targets` in a file (--config FILE, CALLWATCH_CONFIG or ./callwatch.yaml)'

const nameOf = (item: Record<string, unknown>) => item['name']

/** A target that failed its own checks still has the file's keys. */
function targetName(target: Record<string, unknown>): unknown {
  const baseUrl = target['base_url']
  return target['name'] ?? target['app_id'] ?? (typeof baseUrl === 'string' && hostOf(baseUrl))
}
