import { systemClock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { callRowView, type CallRowView } from '../events/call-data.ts'
import { alertHistory, type PastAlert } from '../history/alert-history.ts'
import { MOMENT, readMoment } from '../history/moment.ts'
import { UnknownTarget } from '../history/usage-report.ts'
import { openReader } from '../store/open-store.ts'
import type { StoreReader } from '../store/store-reader.ts'
import { formatSeconds } from '../text/format.ts'
import { plainText } from '../text/plain-text.ts'
import { pagesOf } from '../web/calls-pages.ts'
import { CALL_FORMATS, readCallsRequest } from '../web/calls-route.ts'
import { UsageError } from './explain-error.ts'
import { tableLines } from './table-lines.ts'

export type AlertCallsOptions = {
  at?: string
  target?: readonly string[]
  format: 'table' | 'csv' | 'json' | 'ndjson'
}

/**
 * Prints the calls behind an alert, newest first: what `/api/v1/calls` answers to its `calls_url`. Reads the store beside a
 * running daemon.
 *
 * @param alert its rule, or the rule with the labels, as `callwatch alerts` prints it
 * @throws {UsageError} for an alert that there is not, or not alone
 * @throws {StoreError} when there is no store, or it cannot be read
 */
export async function alertCalls(
  config: Config,
  alert: string,
  options: AlertCallsOptions,
  print: (line: string) => void,
): Promise<void> {
  const reader = await openReader(config.store)
  try {
    const request = requestOf(await findAlert(reader, config, alert, options))
    const calls: CallRowView[] = []
    for await (const part of callsBehind(reader, request)) calls.push(...part)
    linesOf(calls, options.format).forEach(print)
  } catch (error) {
    throw error instanceof UnknownTarget ? new UsageError(error.message) : error
  } finally {
    await reader.close()
  }
}

/** The one that fired then, or else the newest one. */
async function findAlert(
  reader: StoreReader,
  config: Config,
  alert: string,
  { at, target: targets }: AlertCallsOptions,
): Promise<PastAlert> {
  const now = systemClock.wall()
  const time = at === undefined ? undefined : readMoment(at, 'UTC', now)
  if (at !== undefined && time === undefined) throw new UsageError(`--at ${at}: expected ${MOMENT}`)
  // The table shows seconds.
  const second = time === undefined ? undefined : Math.floor(time)
  const period = second === undefined ? { from: 0, to: Infinity } : { from: second, to: second + 1 }
  const { alerts } = await alertHistory(
    reader,
    { ...period, targets, alert: alert.split('{', 1)[0]! },
    { configured: config.targets.map(({ name }) => name), now },
  )
  const found = alerts.filter(
    ({ alert: rule, key, since }) =>
      (alert === rule || alert === key) && (second === undefined || Math.floor(Date.parse(since) / 1000) === second),
  )
  const [newest] = found
  const which = second === undefined ? '' : ` at ${at}`
  if (newest === undefined)
    throw new UsageError(`no alert ${alert} fired${which}; \`callwatch alerts\` lists those that did`)
  const names = new Set(found.map(({ target, key }) => `${key} --target ${target}`))
  if (names.size > 1) {
    const shown = [...names].slice(0, 5).map((name) => name.replace(/^(.*\{.*\})/, "'$1'"))
    const more = names.size > shown.length ? ` or ${names.size - shown.length} others` : ''
    throw new UsageError(`${alert} is several alerts: name one of ${shown.join(', ')}${more}`)
  }
  return newest
}

function requestOf({ calls_url, key, signal }: PastAlert): string {
  if (calls_url !== undefined) return calls_url
  throw new UsageError(
    signal === 'in_progress'
      ? `the calls behind ${key} are not known any more: it has ended, and it measured calls in progress`
      : `there is no list of the calls behind ${key}: it measures ${signal}`,
  )
}

async function* callsBehind(reader: StoreReader, request: string): AsyncGenerator<CallRowView[]> {
  const wanted = readCallsRequest(request, systemClock.wall())
  const names = wanted.filter.targets ?? []
  const openCalls = async (targets: readonly string[]) => {
    const found = targets.map(async (target) => {
      const calls = await reader.calls(target)
      return [...calls.values()].filter(({ phase }) => phase === 'open').map((call) => ({ target, call }))
    })
    return (await Promise.all(found)).flat()
  }
  const targets = { all: () => names, own: () => [], others: () => names.map((name) => ({ name })) }
  for await (const { calls } of pagesOf(wanted, Infinity, { targets, store: { rows: reader.rows, openCalls } }))
    yield calls.map(callRowView)
}

const HEADER = [
  'finished (UTC)',
  'target',
  'session id',
  'type',
  'mode',
  'receiver',
  'status',
  'duration',
  'participants',
]
/** The columns before those with numbers. */
const TEXTS = 7

function linesOf(calls: readonly CallRowView[], format: AlertCallsOptions['format']): string[] {
  if (format === 'json') return [JSON.stringify({ calls }, undefined, 2)]
  if (format !== 'table') {
    const { header, line } = CALL_FORMATS[format]
    return [header, ...calls.map(line)].filter((text) => text !== '').map((text) => text.trimEnd())
  }
  if (calls.length === 0) return ['no calls']
  const rows = calls.map((call) => [
    call.finished === undefined ? 'in progress' : call.finished.replace('T', ' ').slice(0, 19),
    ...[call.target, call.session_id, call.type, call.mode, call.receiver_type, call.status].map(plainText),
    call.duration_seconds === undefined ? '-' : formatSeconds(call.duration_seconds),
    String(call.participants),
  ])
  return tableLines(HEADER, rows, TEXTS)
}
