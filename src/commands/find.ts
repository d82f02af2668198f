import { systemClock } from '../clock/clock.ts'
import type { PollConfig } from '../polling/poll-section.ts'
import { findCalls } from '../pipeline/find-calls.ts'
import { wantedOf, type Found, type Wanted } from '../ledger/found-calls.ts'
import type { TargetConfig } from '../service/target-section.ts'
import { undiciTransport } from '../service/undici-transport.ts'
import { foundCallsView, type FoundCall } from '../views/found-call.ts'
import { foundNotes } from '../views/found-text.ts'
import { formatReading, formatTime } from '../text/format.ts'
import { givenTime } from '../history/queries/parameters.ts'
import { besideDaemon } from './audit/beside-daemon.ts'
import type { Declare } from './command.ts'
import { UsageError } from './explain-error.ts'
import { targetOf } from './service.ts'

/** Asks the service for the calls of a user, a group or a session, and prints what became of each, newest first. */
export const declare: Declare = (command, { configured, print, warn }) =>
  void command
    .argument('[user]', 'ID of the user')
    .option('--group <id>', 'calls to this group')
    .option('--session-id <id>', 'the calls of this session, whenever they began')
    .option('--since <time>', 'calls that began since this time, or this long ago', '1d')
    .option('--until <time>', 'calls that began before this time, or this long ago')
    .option('--target <name>', 'ask the service of this target; required with several targets')
    .option('--json', 'print them as JSON', false)
    .action(async (user, { group, sessionId, json, ...options }) => {
      const wanted = wantedOf({ uid: user, guid: group, session: sessionId })
      if (wanted === undefined)
        throw new UsageError('name one of: a user, --group or --session-id, such as `callwatch find alice --since 2d`')
      const { poll, ...config } = await configured(options)
      const now = systemClock.wall()
      const since = givenTime('--since', options.since, 'UTC', now)
      const before = options.until === undefined ? undefined : givenTime('--until', options.until, 'UTC', now)
      if (since >= (before ?? now)) throw new UsageError('--since must be before --until')
      const target = targetOf(config, options.target)
      const found = await find(wanted, {
        target,
        poll,
        since,
        before,
        onPage: (page, of) => warn(formatReading(page, of)),
      })
      const document = foundCallsView(target.name, found, wanted, now)
      if (json) return print(JSON.stringify(document, undefined, 2))
      for (const note of foundNotes(document, noneText(wanted, since, before))) warn(note)
      for (const call of document.calls) print(lineOf(call))
    })

/** A user may be known by another name than the id. */
function noneText(wanted: Wanted, since: number, before: number | undefined): string | undefined {
  if ('session' in wanted) return undefined
  const [who, id] = 'uid' in wanted ? ['user', wanted.uid] : ['group', wanted.guid]
  const until = before === undefined ? '' : `, and before ${formatTime(before)}`
  return `No call that began since ${formatTime(since)}${until} is of a ${who} with the id ${id}.`
}

type Asked = {
  target: TargetConfig
  poll: PollConfig
  since: number
  before: number | undefined
  onPage: (page: number, of?: number) => void
}

function find(wanted: Wanted, { target, poll, ...options }: Asked): Promise<Found> {
  return findCalls(wanted, {
    ...options,
    send: undiciTransport(target.baseUrl, poll.maxAnswerBytes),
    client: { ...target, ...poll, wall: systemClock.wall },
    asking: {
      ...poll,
      clock: systemClock,
      rateLimiter: besideDaemon(poll),
      random: Math.random,
      onRequest: () => undefined,
    },
  })
}

/** `2026-11-20 21:56:25 UTC audio, to bob: rang 44s, nobody answered (session v1.us.a)` */
function lineOf({ began, text, session_id: session }: FoundCall): string {
  const time = began === null ? 'at an unknown time' : `${began.slice(0, 19).replace('T', ' ')} UTC`
  return `${time} ${text} (session ${session})`
}
