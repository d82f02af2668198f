import { ZodError } from 'zod'
import { systemClock } from '../../clock/clock.ts'
import type { Config } from '../../config/config.ts'
import { writeCursor } from '../../events/cursor.ts'
import { readLatest } from '../../events/read-events.ts'
import { isSelected, type CallFilter } from '../../history/call-filter.ts'
import { readServiceNow } from '../../history/coverage.ts'
import { expectTargets } from '../../history/usage.ts'
import { MARK } from '../../ledger/tracked-call.ts'
import { openReader } from '../../store/open-store.ts'
import { callsParameters, callSelection } from '../../history/queries/calls-query.ts'
import { CALL_FORMATS } from '../../views/call-csv.ts'
import type { EventBody, EventType } from '../../views/event.ts'
import type { CallSelection } from '../../history/calls-pages.ts'
import { formatOption, jsonOption, Option, WIDE, widthOf, type CommandContext, type Declare } from '../command.ts'
import { eventLine, printEvents } from '../events.ts'
import { UsageError } from '../explain-error.ts'
import { names, whole } from '../options/option-values.ts'
import { linesOf, partsOf } from './listing.ts'

/** The events of a call in progress, and of one that has finished. */
const BEGINS: EventType[] = ['call.initiated', 'call.ongoing', 'call.reappeared']
const ENDS: EventType[] = ['call.ended', 'call.unanswered', 'call.rejected', 'call.canceled', 'call.other', 'call.lost']

/** Prints the calls in progress, the oldest first, or those that finished in a period, newest first; of a session both. */
export const declare: Declare = (command, context) =>
  void command
    .option('--since <time>', 'calls that finished since this time, or this long ago (default: calls in progress)')
    .option('--until <time>', 'calls that finished before this time')
    .addOption(
      new Option('--began', '--since and --until are of when calls began, not of when they finished')
        .default(false)
        .conflicts('follow'),
    )
    .option('--target <names>', 'only of these targets; repeatable', names)
    .option('--type <type>', 'only audio or video')
    .option('--mode <mode>', 'only call, meet or presenter')
    .option('--receiver-type <type>', 'only user or group')
    .option('--status <names>', 'only with these statuses; repeatable', names)
    .option('--session-id <id>', 'only those whose session id begins with this; without --since, all of them')
    .option('--limit <n>', 'print at most n calls', whole, 100)
    .addOption(
      new Option('--follow', 'continue with new calls until SIGINT or SIGTERM').default(false).conflicts('until'),
    )
    .addOption(formatOption('how to print them', 'csv', 'excel', 'ndjson'))
    .addOption(jsonOption('print them as JSON'))
    .option(...WIDE)
    .action(async (options) => {
      const { format, json, limit, follow, since, until, type, mode, status } = options
      refuseColumns(follow, format)
      const config = await context.configured(options)
      const query = {
        since,
        until,
        began: options.began ? 'true' : undefined,
        type,
        mode,
        receiver_type: options.receiverType,
        session_id: options.sessionId,
        status: status?.join(','),
      }
      const { calls, cursor, types, where } = await selectedCalls(config, options.target, query, { ...context, limit })
      const { header, line } = CALL_FORMATS[format === 'table' ? 'ndjson' : format]
      const isTable = format === 'table' && (!json || !follow)
      const text = isTable
        ? linesOf(calls, json, widthOf(context, options), config.targets.length)
        : [header, ...calls.map(line)].filter((each) => each !== '').map((each) => each.trimEnd())
      text.forEach((each) => context.printWhole(each))
      if (!follow) return
      await printEvents(
        config,
        { follow, after: cursor, filter: { types, targets: options.target, where }, json: false },
        {
          ...context,
          ...(options.wide && { print: context.printWhole }),
          // An event has no minutes of participants, and no time at which the call was noticed.
          line: (event) => (isTable ? eventLine(event, widthOf(context, options)) : JSON.stringify(event.event.data)),
        },
      )
    })

/** Refuses to follow in a format with columns that an event does not have. */
function refuseColumns(follow: boolean, format: string): void {
  if (follow && (format === 'csv' || format === 'excel'))
    throw new UsageError(`--follow: an event has not all columns of ${format}; use --format ndjson`)
}

type Query = Readonly<Record<string, string | undefined>>

/** The calls that a query of the API selects, the cursor of the events since then, and which of these are of such calls. */
async function selectedCalls(
  config: Config,
  asked: readonly string[] | undefined,
  query: Query,
  { limit, warn }: { limit: number } & Pick<CommandContext, 'warn'>,
) {
  await using reader = await openReader(config.store)
  const configured = config.targets.map(({ name }) => name)
  await expectTargets(reader, asked ?? [], configured)
  const targets = asked ?? configured
  const wanted = wantedOf(
    { ...query, target: asked?.join() },
    await readServiceNow(reader, targets, systemClock.wall()),
    config.targets,
  )
  // What happens while the calls are listed is printed afterwards.
  const { next } = await readLatest(reader, 0)
  const parts = await Array.fromAsync(partsOf(reader, targets, { wanted, limit, warn }))
  const where = (event: EventBody) => isWanted(wanted.filter, event)
  const types = wanted.isEvery === true ? [...BEGINS, ...ENDS] : wanted.finished === undefined ? BEGINS : ENDS
  return { calls: parts.flat(), cursor: writeCursor(next), types, where }
}

/** Reads the filters as the API does. */
function wantedOf(query: Query, now: number, targets: Config['targets']): CallSelection {
  try {
    return callSelection(callsParameters.parse(query), now, targets)
  } catch (error) {
    if (!(error instanceof ZodError)) throw error
    const problems = error.issues.map(({ path, message }) => `--${String(path[0]).replaceAll('_', '-')}: ${message}`)
    throw new UsageError(problems.join('; '))
  }
}

function isWanted(filter: CallFilter, { type, data }: EventBody): boolean {
  if ('alert' in data) return false
  const { call_id: id, session_id: session, mode, receiver_type: receiverType } = data
  const labels = { type: data.type, mode, receiverType }
  const marks = data.has_recording ? MARK.recordingSeen : 0
  return isSelected(filter, {
    target: data.target,
    id,
    session,
    labels,
    marks,
    status: type === 'call.lost' ? 'lost' : data.status,
  })
}
