import { openReader } from '../../store/open-store.ts'
import { formatTime } from '../../text/format.ts'
import type { Config } from '../../config/config.ts'
import type { State } from '../../views/state/state.ts'
import { WIDE, widthOf, type CommandContext, type Declare } from '../command.ts'
import { daemonOf, hear, type Daemon } from './ask-daemon.ts'
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
        context.print(`${url} ${answer === undefined ? 'does not answer' : `answers ${answer.status}`}`)
        return context.succeed(answer?.status === 200)
      }
      const config = await context.configured(options)
      const print = options.wide ? context.printWhole : context.print
      const state = await hear(daemon, config)
      if (state === undefined) return noDaemon(daemon, config, context, options.json ? context.warn : print)
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

/** Says that no daemon answers, and when one has last written. */
async function noDaemon({ url }: Daemon, { store }: Config, context: CommandContext, say: CommandContext['print']) {
  context.succeed(false)
  say(`no daemon of this configuration answers at ${url}: is it running?`)
  await using reader = await openReader(store)
  const written = await lastWritten(reader)
  say(`${reader.place} was ${written === undefined ? 'never written' : `last written at ${formatTime(written)}`}`)
  say('next: `callwatch alerts` lists what fired until then')
}
