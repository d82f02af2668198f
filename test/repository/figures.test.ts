import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { EXPORTED_WINDOWS } from '../../src/ledger/failure-ratio.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8')
/** The text of a page on one line. */
const textOf = (page: string) => read(page).replaceAll(/\s+/g, ' ')

const WORDS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']
/** Reads `10,000`, `five`, `a quarter` and the like. */
function numberOf(text: string): number {
  const word = text.toLowerCase()
  if (WORDS.includes(word)) return WORDS.indexOf(word)
  if (/^an?$/.test(word)) return 1
  return word === 'quarter' ? 1 / 4 : Number(word.replaceAll(',', ''))
}

/** The value of a constant of a file, which may be a product or a quotient. */
function constant(file: string, name: string): number {
  const [, value = ''] = new RegExp(`^(?:export )?const ${name} = (.+)$`, 'm').exec(read(`src/${file}`)) ?? []
  expect(value, `${name} in src/${file}`).toMatch(/^[\d_.]+(?: [*/] [\d_.]+)?$/)
  const [first = 0, second = 1] = value
    .replaceAll('_', '')
    .split(/ [*/] /)
    .map(Number)
  return value.includes('/') ? first / second : first * second
}

/** The default of a key. */
const preset = (key: string) =>
  Number(new RegExp(`^- \`${key}\` \\(\`(\\d+)d?\``, 'm').exec(read('docs/configuration.md'))?.[1])
const requestLimit = () => preset('poll.max_requests_per_minute')
const connections = () =>
  constant('store/open-postgres.ts', 'CONNECTIONS') + constant('store/open-postgres.ts', 'READ_CONNECTIONS') + 1
const http = (name: string) => constant('web/server.ts', name)
const limits = (name: string) => constant('web/limit-connections.ts', name)
const events = (name: string) => constant('web/api/events.ts', name)
const series = (name: string) => constant('history/series.ts', name)
const calls = (name: string) => constant('web/api/calls.ts', name)
const maxCalls = () => constant('history/queries/calls-query.ts', 'MAX_CALLS')
const minRatio = () => constant('ledger/failure-ratio.ts', 'MIN_EXPORTED_CALLS')
const due = (name: string) => constant('notifications/delivery/due.ts', name)
const round = (name: string) => constant('notifications/delivery/message-round.ts', name)
const login = (name: string) => constant('web/login-attempts.ts', name)

/** What a page says, with the figure in parentheses, and where the figure comes from. */
const FIGURES: [page: string, says: RegExp, is: () => number][] = [
  ['several-machines', /has at most (\w+): four for commits/, connections],
  ['several-machines', /renews the lease (\w+) times/, () => constant('cluster/shared-ownership.ts', 'RENEWALS_PER_LEASE')],
  ['several-machines', /lease is (\d+) s/, () => constant('store/store-section.ts', 'DEFAULT_LEASE_SECONDS')],
  ['several-machines', /(\d+) s at most\. The others acquire/, () => constant('pipeline/managed-target.ts', 'GRACE_PERIOD_SECONDS')],
  ['semantics', /ratio is absent below (\w+) calls/, minRatio],
  ['monitoring', /absent below (\w+) calls/, minRatio],
  ['api', /`failure_ratio` is null below (\w+) calls/, minRatio],
  ['semantics', /95th percentile to (\d+)%/, () => Math.round((Math.exp(1 / (2 * constant('history/sums.ts', 'CLASSES_A_FACTOR'))) - 1) * 100)],
  ['semantics', /more than (\w+) minutes after they had finished/, () => constant('ledger/usage.ts', 'LATE_SECONDS') / 60],
  ['semantics', /`Retry-After`, up to (\w+) hour/, () => constant('polling/rate-limiter.ts', 'MAX_PAUSE_SECONDS') / 3600],
  ['api', /answers within (\d+) s/, () => constant('daemon/search.ts', 'LONGEST_SECONDS')],
  ['semantics', /at most a (\w+) of `max_requests_per_minute`/, () => constant('commands/audit/beside-daemon.ts', 'RATE_SHARE')],
  ['api', /more than (\w+) for calls with no `limit`/, () => calls('MAX_LARGE_AT_A_TIME')],
  ['api', /no `limit` or one above (\d+)/, () => calls('MAX_SMALL')],
  ['api', /more than (\d+) event streams/, () => events('MAX_STREAMS')],
  ['api', /arrived completely within (\w+) seconds/, () => http('REQUEST_TIMEOUT_SECONDS')],
  ['api', /keeps (\d+) connections open/, () => limits('MAX_CONNECTIONS')],
  ['api', /failing for (\w+) intervals/, () => constant('clock/intervals.ts', 'STALE_INTERVALS')],
  ['api', /`limit` calls \(default: ([\d,]+)\)/, maxCalls],
  ['api', /searches for (\w+) seconds at most/, () => constant('history/calls-pages.ts', 'SEARCH_SECONDS')],
  ['api', /smallest one with\s(\d+) calls/, () => series('CALLS_A_STEP')],
  ['api', /at most (\d+) points/, () => series('MAX_POINTS')],
  ['api', /the up to (\w+) ones with/, () => series('MAX_GROUPS')],
  ['api', /never more than ([\d,]+)\./, () => series('MAX_POINTS_ASKED')],
  ['access', /After (\w+) wrong passwords/, () => login('FREE_FAILURES')],
  ['access', /waits up to (\w+) seconds/, () => login('MAX_DELAY_SECONDS')],
  ['access', /quiet for (\w+) minute/, () => login('EXPIRE_AFTER_SECONDS') / 60],
  ['events', /A page has (\d+) events/, () => events('DEFAULT_LIMIT')],
  ['events', /so on to (\d+) min/, () => constant('events/webhooks/deliver-events.ts', 'MAX_DELAY_SECONDS') / 60],
  ['events', /at each attempt for (\w+) minutes is a dead letter/, () => constant('events/webhooks/deliver-events.ts', 'MAX_REFUSED_SECONDS') / 60],
  ['events', /says, (\w+) hour at most/, () => constant('events/webhooks/deliver-events.ts', 'MAX_RETRY_AFTER_SECONDS') / 3600],
  ['events', /gets nothing for up to (\d+) s/, () => constant('events/webhooks/deliver-events.ts', 'MAX_PAUSE_SECONDS')],
  ['events', /more than (\w+) minutes away/, () => constant('events/webhooks/verify.ts', 'TOLERANCE_SECONDS') / 60],
  ['alerting', /`endsAt` (\w+) intervals/, () => constant('notifications/receivers/alertmanager/alertmanager-refresh.ts', 'LIFETIME_POLLS')],
  ['alerting', /\(at least (\d+) min\)/, () => constant('notifications/receivers/alertmanager/alertmanager-refresh.ts', 'MIN_LIFETIME_SECONDS') / 60],
  ['alerting', /on (\w+) times as many targets, or on all/, () => due('GROWTH')],
  ['alerting', /(\w+) minute after the group's/, () => due('GROWTH_SECONDS') / 60],
  ['alerting', /incident lasts: every (\d+) s/, () => round('EDIT_SECONDS')],
  ['troubleshooting', /each time, up to (\d+) min/, () => constant('pipeline/managed-target.ts', 'MAX_PAUSE_SECONDS') / 60],
  ['troubleshooting', /If more than (\w+) targets/, () => constant('daemon/reporting/change-log.ts', 'MAX_LINES')],
  ['troubleshooting', /the first (\d+) targets/, () => constant('daemon/reporting/change-log.ts', 'MAX_NAMES')],
  ['troubleshooting', /in the same way within (\w+) seconds/, () => constant('daemon/daemon.ts', 'LOG_SECONDS')],
  ['troubleshooting', /More than the (\d+) that the service/, () => constant('ledger/delta/observe-call.ts', 'MAX_PARTICIPANTS')],
  ['sizing', /1,000 pages at (\d+) requests a minute/, requestLimit],
  ['privacy', /`store.history`, (\d+) days/, () => preset('store.history')],
  ['privacy', /`events.retention`, (\d+) days/, () => preset('events.retention')],
  ['webhook', /at most `(\d+)d`/, () => constant('alerts/match.ts', 'MAX_SILENCE_SECONDS') / 86_400],
  ['simulator', /has at most ([\d,]+) calls/, () => constant('commands/simulate.ts', 'MAX_PAST_CALLS')],
  ['simulator', /calls \(at most (\d+) a minute\)/, () => constant('commands/simulate.ts', 'CALLS_PER_MINUTE')],
] // oxfmt-ignore

test.each(FIGURES)('docs/%s.md says %s as the code has it', (page, says, is) => {
  const [, figure] = says.exec(textOf(`docs/${page}.md`)) ?? []
  expect(figure, `docs/${page}.md no longer says ${says}: remove the row, or write the new sentence here`).toBeDefined()
  expect(numberOf(figure!)).toBe(is())
})

/** Of a row of the benchmark. */
function measured(row: string): number {
  const [, value = ''] =
    new RegExp(`^\\| ${RegExp.escape(row)} \\| ([\\d.]+)`, 'm').exec(read('docs/development/performance.md')) ?? []
  return Number(value)
}

/** What pages say that was measured, with the row of the benchmark. */
const MEASURED: [page: string, says: RegExp, row: string][] = [
  ['sizing', /Memory \| About (\d+) MB/, 'idle'],
  ['sizing', /(\d+) bytes for each call of `poll.lookback`/, 'memory'],
  ['sizing', /Disk \| About (\d+) bytes/, 'bytes a call on disk'],
  ['sizing', /(\d+) in PostgreSQL/, 'bytes a call on disk (PostgreSQL)'],
]

test.each(MEASURED)('docs/%s.md says %s as it was last measured, to 5%%', (page, says, row) => {
  const figure = Number(says.exec(textOf(`docs/${page}.md`))?.[1])
  expect(Math.abs(figure / measured(row) - 1), `${figure}, measured: ${measured(row)}`).toBeLessThan(0.05)
})

test('docs/sizing.md multiplies and adds as it says', () => {
  const text = textOf('docs/sizing.md')
  const figures = (says: RegExp) =>
    says
      .exec(text)!
      .slice(1)
      .map((figure) => numberOf(figure))
  const [base = 0, each = 0, million] = figures(
    /About (\d+) MB,.*? and (\d+) bytes for each .*?: (\d+) MB for a million/,
  )
  expect(million).toBe(base + each)
  const [file = 0, shared = 0, calls = 0, days = 0, fileGB, sharedGB] = figures(
    /About (\d+) bytes for each call of `store.history`, (\d+) in PostgreSQL. ([\d,]+) calls a day for the default of (\d+) days take ([\d.]+) or ([\d.]+) GB/,
  )
  expect([fileGB, sharedGB]).toEqual([file, shared].map((bytes) => Math.round((bytes * calls * days) / 1e8) / 10))
})

const USERS = ['README.md', ...globSync('docs/*.md', { cwd: ROOT })]

test('a default after the name of a key is that of docs/configuration.md', () => {
  const rows = [...read('docs/configuration.md').matchAll(/^- `([^`]+)` \(`([^`]+)`\)/gm)]
  const wrong = USERS.flatMap((page) =>
    [...textOf(page).matchAll(/`([a-z_.]+)` \((?:default:? )?`?(\d[\d.]*(?:[smhd]|min)?)\b(?: days)?/g)].flatMap(
      ([says, key = '', value]) => {
        const presets = rows.filter(([, name = '']) => `.${name}`.endsWith(`.${key}`)).map(([, , preset]) => preset)
        const days = `${value}d`
        return presets.length === 0 || presets.some((preset) => preset === value || preset === days)
          ? []
          : [`${page}: ${says}, the default is ${presets.join(' or ')}`]
      },
    ),
  )
  expect(wrong).toEqual([])
  expect(rows.length).toBeGreaterThan(30)
})

test('windows of metrics are those that are exported', () => {
  const shown = USERS.flatMap((page) => [...read(page).matchAll(/window="(\w+)"/g)].map(([, window]) => window))
  expect(shown).toContain('15m')
  expect(shown.filter((window) => !Object.hasOwn(EXPORTED_WINDOWS, window ?? ''))).toEqual([])
})
