import type { Simulator } from '../simulator/simulator.ts'
import { drawSwitches, switchTable, type Switches } from '../simulator/switches.ts'
import type { Declare } from './command.ts'
import {
  counted,
  numberOrDuration,
  percent,
  port,
  positive,
  recording,
  share,
  webAddress,
  whole,
} from './options/option-values.ts'
import { switchOptions } from './options/switch-options.ts'

type Calls = { callsPerMinute: number; history: number; historySeconds?: number; weekly?: boolean }

const CALLS_PER_MINUTE = 30
/** More calls would take much memory, and make the start slow. */
const MAX_PAST_CALLS = 50_000

/** Runs the simulator alone, until SIGTERM or SIGINT. */
export const declare: Declare = (command, { printWhole: print }) => {
  const configured = command
    .option('--port <n>', 'port to listen on; 0: a free one', port, 8080)
    .option('--speed <n>', 'run calls this many times faster', positive, 1)
    .option('--calls-per-minute <n>', "calls a minute (default: 30, or the history's)", positive)
    .option('--seed <n>', 'draw the calls from this seed', whole, 1)
    .option(
      '--history <n|duration>',
      'start with so many finished calls, or those of a duration such as 35d',
      numberOrDuration,
      100,
    )
    .option('--targets <n>', 'services with calls of their own', counted, 1)
    .option('--burst <percent>', 'percent of calls that fail for 5 of 30 minutes', percent)
    .option('--requests-per-minute <n>', 'answer 429 above this rate', positive)
    .option('--webhook <url>', 'send webhooks there, with its user and password', webAddress)
    .option('--replay <file>', 'answer as this file of `check --record`', recording)
    .option('--chaos <n>', 'draw switches from the seed; intensity 0 to 1', share)
  for (const option of switchOptions()) configured.addOption(option)
  configured.action(async (options) => {
    // Loaded here, because `--help` does not need them.
    const [{ startSimulator, startSimulators }, { replay }, { bursts }, { stopped }] = await Promise.all([
      import('../simulator/simulator.ts'),
      import('../simulator/replay.ts'),
      import('../simulator/bursts.ts'),
      import('./stop-signal.ts'),
    ])
    if (options.replay !== undefined) {
      const { url, close } = await replay(options.replay, options.port)
      print(`calls service: ${url}`)
      print(`check with:    CALLWATCH_BASE_URL=${url} CALLWATCH_API_KEY=any callwatch check --probe`)
      await stopped()
      return close()
    }
    const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
    const calls = callsOf(options)
    const settings = { ...given, ...calls, switches: switchesOf(options) }
    const names = namesOf(options.targets)
    const simulators = names.length === 0 ? [await startSimulator(settings)] : await startSimulators(names, settings)
    // Of the webhooks' address, the last part of the path is the name of the service.
    const to = options.webhook
    if (to !== undefined) simulators.forEach((one, i) => one.sendWebhooks(new URL(names[i] ?? '', to)))
    for (const line of linesOf(simulators)) print(line)
    const days = typeof options.history === 'object' ? Math.ceil(options.history.seconds / 86_400) : 0
    // A day counts by default.
    if (days > 1) print(`with history:  poll: { lookback: ${days}d } in its configuration counts the whole history`)
    const bursting = options.burst === undefined ? undefined : bursts(simulators, options.burst, calls)
    await stopped()
    bursting?.unsubscribe()
    await Promise.all(simulators.map(({ close }) => close()))
  })
}

/** `app-01` to `app-30`; none for a single service, which needs no name. */
function namesOf(targets: number): string[] {
  const digits = String(targets).length
  return targets === 1 ? [] : Array.from({ length: targets }, (_, i) => `app-${String(i + 1).padStart(digits, '0')}`)
}

/** The addresses of the services, and how to watch them. */
function linesOf(simulators: readonly Simulator[]): string[] {
  const { url, keys } = simulators[0]!
  const { origin } = new URL(url)
  const own = url.replace(/v3$/, '_simulator')
  return [
    `calls service: ${url}${simulators.length === 1 ? '' : `, … ${simulators.at(-1)!.url}`}`,
    `api key:       ${keys.fullAccess} (fullAccess), ${keys.authOnly} (authOnly)`,
    `event log:     ${own}/ledger`,
    `switches:      ${own}/switches`,
    ...(simulators.length === 1
      ? [`monitor with:  CALLWATCH_BASE_URL=${url} CALLWATCH_API_KEY=${keys.fullAccess} callwatch run`]
      : []),
    `configuration: curl ${origin}/_simulator/config > simulated.yaml; then callwatch run --config simulated.yaml`,
  ]
}

type AskedCalls = { history: number | { seconds: number }; callsPerMinute?: number | undefined }

/**
 * How many calls there are. A history of a duration follows the week, and has at most MAX_PAST_CALLS on average. New calls
 * then arrive at the same rate unless a rate is given, so that charts continue evenly.
 */
export function callsOf({ history, callsPerMinute }: AskedCalls): Calls {
  if (typeof history === 'number') return { history, callsPerMinute: callsPerMinute ?? CALLS_PER_MINUTE }
  const minutes = history.seconds / 60
  const perMinute = callsPerMinute ?? Math.min(CALLS_PER_MINUTE, MAX_PAST_CALLS / minutes)
  const calls = Math.round(Math.min(perMinute * minutes, MAX_PAST_CALLS))
  return { history: Math.max(1, calls), historySeconds: history.seconds, weekly: true, callsPerMinute: perMinute }
}

/** The given switches. With `chaos`, the others are drawn at random with that intensity. */
function switchesOf(options: { seed: number; chaos?: number | undefined }): Partial<Switches> {
  const { seed, chaos } = options
  const drawn = chaos === undefined ? {} : drawSwitches(switchTable, seed, chaos)
  const given = Object.entries(options).filter(([name, value]) => name in switchTable && value !== undefined)
  return { ...drawn, ...Object.fromEntries(given) }
}
