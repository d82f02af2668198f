import { z } from 'zod'
import { checkMatches } from './check-matches.ts'
import { checkDigest, checkWindows } from './rules/check-windows.ts'
import { defaultRules } from './rules/default-rules.ts'
import { duration, longestTimer } from './duration.ts'
import { httpSchema } from './http-schema.ts'
import { notifySchema } from './notify-schema.ts'
import { isMap } from '../path.ts'
import { ruleSchema } from './rules/rule-schema.ts'
import { oneOf, wholeNumber } from './scalars.ts'
import { section } from './section.ts'
import { storeSchema } from './store-schema.ts'
import { targetSchema } from './target-schema.ts'
import { hostOf } from './web-address.ts'

const poll = section({
  interval: duration({ max: longestTimer }).prefault('15s').describe('Time between the starts of two looks'),
  page_size: wholeNumber(1, 1000).prefault(100).describe('Calls asked for in one page'),
  max_answer_bytes: wholeNumber(65_536, 268_435_456)
    .optional()
    .describe('A longer answer of the service is an error; default: 32 KiB for each call of a page, at least 1 MiB'),
  timeout: duration({ max: longestTimer }).prefault('10s').describe('How long one request may take'),
  retries: wholeNumber(0, 20).prefault(4).describe('Further attempts of a request that failed for the moment'),
  lookback: duration().prefault('24h').describe('How far back a call may still change, and how long it is remembered'),
  sweep_interval: duration({ max: longestTimer })
    .prefault('15m')
    .describe('The whole lookback is listed again at least this often'),
  max_requests_per_minute: wholeNumber(1, 1_000_000).prefault(400).describe('Never exceeded, follow-ups included'),
  baseline: oneOf(['skip', 'count']).prefault('skip').describe('Calls already over when callwatch first starts'),
  details: oneOf(['missing', 'never'])
    .prefault('missing')
    .describe('One Get Call for a final call listed without participants'),
  status_map: z
    .record(z.string(), oneOf(['initiated', 'ongoing', 'ended', 'unanswered', 'rejected', 'canceled']))
    .prefault({})
    .describe('Other spellings of a status, added to cancelled: canceled, missed: unanswered, busy: rejected'),
})

const log = section({
  level: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .prefault('info')
    .describe('The least serious lines that are written'),
})

/** The configuration file, after interpolation and with what the environment filled in. */
export const fileSchema = section(
  {
    targets: z.array(targetSchema).prefault([]).describe('The apps to watch, at least one'),
    poll: poll.prefault({}).describe('How the calls service is asked'),
    store: storeSchema.prefault({}).describe('Where the counts are kept'),
    http: httpSchema.prefault({}).describe('Where callwatch serves metrics, API and page'),
    notify: notifySchema.prefault({}).describe('Where alerts are sent'),
    alerts: z
      .array(ruleSchema)
      .prefault(defaultRules)
      .describe('Alert rules; absent: the shipped default rules; []: none'),
    log: log.prefault({}).describe('What is logged'),
  },
  (file, report) => {
    const [targets, rules] = [mapsIn(file.targets), mapsIn(file.alerts)]
    if (Array.isArray(file.targets) && file.targets.length === 0) report(['targets'], noTarget)
    reportDuplicates(targets.map(targetName), (index, earlier) =>
      report(
        ['targets', index, 'name'],
        `the same name as \`targets[${earlier}]\` (the name is \`name\`, else \`app_id\`, else the host of \`base_url\`); ` +
          'expected a name of its own',
      ),
    )
    reportDuplicates(
      rules.map((rule) => rule['name']),
      (index, earlier) =>
        report(['alerts', index, 'name'], `the same name as \`alerts[${earlier}]\`; expected a name of its own`),
    )
    const history = isMap(file.store) ? file.store['history'] : undefined
    checkWindows(rules, history, report)
    checkDigest(file.notify, history, report)
    const names = { alert: rules.map((rule) => rule['name']), target: targets.map(targetName) }
    checkMatches(file.notify, names, report)
  },
)

/** The file as the program sees it: checked, camelCase, seconds; secrets' files already read. */
export type FileConfig = z.output<typeof fileSchema>

const noTarget =
  'no target to watch; expected CALLWATCH_APP_ID, CALLWATCH_REGION and CALLWATCH_API_KEY in the environment, ' +
  'or `targets` in a file (--config FILE, CALLWATCH_CONFIG or ./callwatch.yaml)'

function mapsIn(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.map((item: unknown) => (isMap(item) ? item : {})) : []
}

/** Targets that are wrong by themselves still have the file's keys here. */
function targetName(target: Record<string, unknown>): unknown {
  const baseUrl = target['baseUrl'] ?? target['base_url']
  return target['name'] ?? target['appId'] ?? target['app_id'] ?? (typeof baseUrl === 'string' && hostOf(baseUrl))
}

function reportDuplicates(names: unknown[], report: (index: number, earlier: number) => void) {
  names.forEach((name, index) => {
    const earlier = names.indexOf(name)
    if (typeof name === 'string' && earlier < index) report(index, earlier)
  })
}
