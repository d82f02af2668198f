import { openReader } from '../../store/open-store.ts'
import { formatTime } from '../../text/format.ts'
import type { Config } from '../../config/config.ts'
import type { State } from '../../views/state/state.ts'
import { WIDE, widthOf, type CommandContext, type Declare } from '../command.ts'
import { daemonOf, hear, STATE_TIMEOUT_MS, type Daemon } from './ask-daemon.ts'
import { lastWritten } from './last-written.ts'
import { printAll, printProblems } from './print-status.ts'

/** The states of a target that is polled. */
const POLLED = ['up', 'failing']

/** Prints what is wrong, as the daemon says it. Succeeds if all targets are polled and no alert fires. */
export const declare: Declare = (command, context) =>
  void command
    .option('--all', 'print all targets, alerts and receivers, also those that are fine', false)
    .option(...WIDE)
    .option('--json', 'print the state of the daemon as JSON', false)
    .option('--health', 'only ask the daemon of this configuration whether it works (/healthz)', false)
    .action(async (options) => {
      const daemon = await daemonOf(options, context)
      if (options.health) {
        const answer = await daemon.get('healthz')
        const url = `${daemon.url}healthz`
        const status = typeof answer === 'object' ? answer.status : undefined
        context.print(`${url} ${status === undefined ? 'does not answer' : `answers ${status}`}`)
        return context.succeed(status === 200)
      }
      const config = await context.configured(options)
      const print = options.wide ? context.printWhole : context.print
      const state = await hear(daemon, config)
      if (state === undefined || state === 'late')
        return noState(problemText(daemon, state), config, context, options.json ? context.warn : print)
      const missing = config.targets
        .map(({ name }) => name)
        .filter((name) => state.targets.every((each) => each.name !== name))
      context.succeed(isFine(state) && missing.length === 0)
      if (options.json) return context.print(JSON.stringify(state, undefined, 2))
      printProblems(state, config.http.publicUrl ?? daemon.url, print, missing)
      if (options.all) printAll(state, context.printWhole, widthOf(context, options))
    })

/** Whether all targets are polled and no alert fires. */
const isFine = ({ problem, alerts, targets }: State) =>
  problem === null &&
  alerts.every(({ state }) => state === 'pending') &&
  targets.every(({ state }) => POLLED.includes(state))

const problemText = ({ url }: Daemon, state: 'late' | undefined) =>
  state === 'late'
    ? `the daemon at ${url} did not answer within ${STATE_TIMEOUT_MS / 1000}s: it is overloaded or hangs`
    : `no daemon of this configuration answers at ${url}: is it running?`

/** Says why there is no state, and when a daemon has last written. */
async function noState(why: string, { store }: Config, context: CommandContext, say: CommandContext['print']) {
  context.succeed(false)
  say(why)
  await using reader = await openReader(store)
  const written = await lastWritten(reader)
  say(`${reader.place} was ${written === undefined ? 'never written' : `last written at ${formatTime(written)}`}`)
  say('next: `callwatch alerts` lists what fired until then')
}
