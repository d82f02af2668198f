import { alertOf } from '../alerts/alert.ts'
import type { AlertInstance } from '../alerts/alert-instance.ts'
import { bySeverity } from '../alerts/match-keys.ts'
import { incidentsOf } from '../alerts/incidents.ts'
import { definitionOf } from '../alerts/definition-of.ts'
import { formatIn } from '../alerts/signal.ts'
import { systemClock } from '../clock/clock.ts'
import { isoTime } from '../clock/times.ts'
import type { Config } from '../config/config.ts'
import type { SyncState } from '../ledger/state.ts'
import { IS_OPEN } from '../store/call-columns.ts'
import { openReader } from '../store/open-store.ts'
import type { StoreReader } from '../store/reader.ts'
import { grouping } from '../notifications/grouping.ts'
import { parse } from '../store/sql.ts'
import { formatNumber, formatSeconds } from '../text/format.ts'
import { alertData } from '../views/alert.ts'
import { incidentView } from '../views/incident.ts'
import { receiverView } from '../views/receiver-status.ts'
import type { StoredStatus } from '../views/status.ts'
import { WIDE, widthOf, type CommandContext, type Declare, tableLines } from './command.ts'
import { untilStopped } from './until-stopped.ts'

const WATCH_SECONDS = 2
/** After so many intervals without a successful poll a target is stale. */
const STALE_INTERVALS = 3
/** Clears a terminal. */
const CLEAR = '\u001B[H\u001B[2J'

/** Prints how callwatch is doing, by what the daemon has committed. Succeeds if all targets are polled and no alert fires. */
export const declare: Declare = (command, context) =>
  void command
    .option('--watch', 'print it again every two seconds, until SIGINT or SIGTERM', false)
    .option(...WIDE)
    .option('--json', 'print it as JSON', false)
    .option('--health', 'only ask the daemon of this configuration whether it works (/healthz)', false)
    .action(async (options) => {
      if (options.health) return askHealth(options, context)
      const config = await context.configured(options)
      const show = async () => {
        await using reader = await openReader(config.store)
        const status = await readStatus(reader, config, systemClock.wall())
        context.succeed(status.alerts.length === 0 && status.targets.every(({ state }) => state === 'up'))
        if (options.watch && !options.json && context.stdout.isTTY) context.stdout.write(CLEAR)
        if (options.json) context.print(JSON.stringify(status, undefined, options.watch ? 0 : 2))
        else printStatus(status, context, widthOf(context, options))
      }
      await (options.watch ? untilStopped(show, WATCH_SECONDS, context) : show())
    })

/** How long the daemon may take (milliseconds). The image allows its health check ten seconds. */
const HEALTH_TIMEOUT_MS = 4000

/** Prints the answer of `/healthz`. It uses no proxy, and does not verify the certificate, which has another name than localhost. */
async function askHealth({ config: file }: { config?: string | undefined }, context: CommandContext): Promise<void> {
  const [{ Agent, fetch }, { daemonUrl }] = await Promise.all([import('undici'), import('../config/daemon-url.ts')])
  const url = `${daemonUrl({ ...(file !== undefined && { file }), ...context })}healthz`
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } })
  const signal = AbortSignal.timeout(HEALTH_TIMEOUT_MS)
  const ask = (address: string) => fetch(address, { dispatcher, signal })
  // A file that is not YAML does not say whether the daemon has a certificate.
  const answer = await ask(url)
    .catch(() => ask(url.replace('http:', 'https:')))
    .catch(() => undefined)
  context.print(`${url} ${answer === undefined ? 'does not answer' : `answers ${answer.status}`}`)
  context.succeed(answer?.ok === true)
}

async function readStatus(
  reader: StoreReader,
  { targets, poll, notify, alerts: rules }: Config,
  now: number,
): Promise<StoredStatus> {
  const syncs = await reader.rows('SELECT name, sync FROM callwatch.targets')
  const instances = await reader.rows(
    'SELECT name, data FROM callwatch.targets CROSS JOIN callwatch.alerts WHERE target = number',
  )
  const open = await reader.rows(
    `SELECT name, count(*) AS n FROM callwatch.targets CROSS JOIN callwatch.calls
    WHERE target = number AND ${IS_OPEN} GROUP BY name`,
  )
  const waiting = await reader.waiting()
  const known = new Map(syncs.map(({ name, sync }) => [String(name), parse<SyncState>(sync)]))
  const inProgress = new Map(open.map(({ name, n }) => [String(name), Number(n)]))
  const live = instances.map(({ name, data }) => ({ target: String(name), instance: parse<AlertInstance>(data) }))
  const alerts = live.flatMap((one) =>
    one.instance.state === 'pending' ? [] : { ...alertData(alertOf(one)), key: one.instance.key },
  )
  return {
    now: isoTime(now),
    store: reader.place,
    targets: targets.map(({ name }): StoredStatus['targets'][number] => {
      const last = known.get(name)?.lastSuccessHostTime
      const lag = last === undefined ? null : Math.max(0, now - last)
      return {
        target: name,
        state: lag === null ? 'never polled' : lag > STALE_INTERVALS * poll.interval ? 'stale' : 'up',
        last_success: last === undefined ? null : isoTime(last),
        lag_seconds: lag,
        in_progress: inProgress.get(name) ?? 0,
        firing: alerts.filter(({ target }) => target === name).length,
      }
    }),
    incidents: incidentsOf(live, grouping(notify, rules), targets.length).map(incidentView),
    alerts,
    receivers: notify.receivers.map(({ name }) => receiverView({ name }, waiting, now)),
  }
}

/** What is wrong comes first in each table. */
function printStatus(
  { now, store, targets, incidents, alerts, receivers }: StoredStatus,
  { print }: CommandContext,
  width: number,
): void {
  const printTable = <Item>(
    header: readonly string[],
    texts: number,
    givesWay: readonly string[],
    items: readonly Item[],
    cells: (item: Item) => string[],
    colourOf: (item: Item) => 'red' | 'yellow' | undefined,
  ) => {
    const [head, ...lines] = tableLines(header, items.map(cells), texts, { width, givesWay })
    print(head!, 'bold')
    for (const [i, line] of lines.entries()) print(line, colourOf(items[i]!))
  }
  for (const { severity, summary, details } of incidents) {
    print(`${severity}: ${summary}`, severity === 'critical' ? 'red' : 'yellow')
    for (const line of details) print(`  ${line}`)
    print('')
  }
  const ordered = targets.toSorted((a, b) => (b.lag_seconds ?? Infinity) - (a.lag_seconds ?? Infinity) || 0)
  printTable(
    ['target', 'state', 'lag', 'in progress', 'firing'],
    2,
    ['in progress', 'lag'],
    [...ordered.filter(({ state }) => state !== 'up'), ...targets.filter(({ state }) => state === 'up')],
    ({ target, state, lag_seconds: lag, in_progress: open, firing }) => [
      target,
      state,
      lag === null ? '-' : formatSeconds(lag),
      formatNumber(open),
      formatNumber(firing),
    ],
    ({ state }) => (state === 'up' ? undefined : 'red'),
  )
  print('')
  if (alerts.length === 0) print('no alert fires', 'green')
  else
    printTable(
      ['alert', 'target', 'severity', 'for', 'value', 'threshold'],
      3,
      ['threshold', 'severity', 'for'],
      alerts.toSorted(bySeverity),
      ({ key, target, severity, since, value, threshold, breach, signal }) => {
        const { unit } = definitionOf({ name: signal })
        const lasts = formatSeconds(Math.max(0, (Date.parse(now) - Date.parse(since)) / 1000))
        return [key, target, severity, lasts, formatIn(unit, value), `${breach} ${formatIn(unit, threshold)}`]
      },
      ({ severity }) => (severity === 'critical' ? 'red' : 'yellow'),
    )
  print('')
  for (const { name, pending, oldest_pending_seconds: oldest } of receivers) {
    const since = oldest === undefined ? '' : `, the oldest for ${formatSeconds(oldest)}`
    print(`receiver ${name}: ${pending === 0 ? 'nothing waits' : `${formatNumber(pending)} waiting${since}`}`)
  }
  print(`store: ${store}`)
}
