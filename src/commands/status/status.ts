import { systemClock } from '../../clock/clock.ts'
import { openReader } from '../../store/open-store.ts'
import { WIDE, widthOf, type Declare } from '../command.ts'
import { untilStopped } from '../until-stopped.ts'
import { daemonOf, hear } from './ask-daemon.ts'
import { printAll, printProblems } from './print-status.ts'
import { readStatus } from './read-status.ts'

const WATCH_SECONDS = 2
/** Clears a terminal. */
const CLEAR = '\u001B[H\u001B[2J'

/** Prints what is wrong, by what the daemon has committed and what it answers. Succeeds if all targets are polled and no alert fires. */
export const declare: Declare = (command, context) =>
  void command
    .option('--all', 'print all targets, alerts and receivers, also those that are fine', false)
    .option('--watch', 'print it again every two seconds, until SIGINT or SIGTERM', false)
    .option(...WIDE)
    .option('--json', 'print it as JSON', false)
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
      const show = async () => {
        await using reader = await openReader(config.store)
        const told = { reader, url: daemon.url, heard: await hear(daemon, config) }
        const status = await readStatus(told, config, systemClock.wall())
        context.succeed(status.alerts.length === 0 && status.targets.every(({ state }) => state === 'up'))
        if (options.watch && !options.json && context.stdout.isTTY) context.stdout.write(CLEAR)
        if (options.json) return context.print(JSON.stringify(status, undefined, options.watch ? 0 : 2))
        printProblems(status, options.wide ? context.printWhole : context.print)
        if (options.all) printAll(status, context.printWhole, widthOf(context, options))
      }
      await (options.watch ? untilStopped(show, WATCH_SECONDS, context) : show())
    })
