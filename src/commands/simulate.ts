import { lastValueFrom } from 'rxjs'
import { startSimulator, type SimulatorOptions } from '../simulator/simulator.ts'
import { drawSwitches, switchTable, type Switches } from '../simulator/switches.ts'
import { stopSignal } from './stop-signal.ts'

export type SimulateOptions = Omit<SimulatorOptions, 'switches' | 'history' | 'historySeconds' | 'weekly'> &
  Partial<Switches> & {
    /** A number of calls, or the time in which they began. */
    history?: number | { seconds: number }
    /** Draws the other switches from the seed with this intensity, 0 to 1; absent: the calm defaults. */
    chaos?: number
  }

type Calls = { callsPerMinute: number; history: number; historySeconds?: number; weekly?: boolean }

const CALLS_PER_MINUTE = 30
/** More would take the memory and the time of the start. */
const MAX_PAST_CALLS = 50_000

/** Runs the simulator alone, until SIGTERM or SIGINT. */
export async function simulate(options: SimulateOptions, print: (line: string) => void): Promise<void> {
  const simulator = await startSimulator({ ...options, ...callsOf(options), switches: switchesOf(options) })
  const origin = new URL(simulator.url).origin
  print(`calls service: ${simulator.url}`)
  print(`api key:       ${simulator.keys.fullAccess} (fullAccess), ${simulator.keys.authOnly} (authOnly)`)
  print(`event log:     ${origin}/_simulator/ledger`)
  print(`switches:      ${origin}/_simulator/switches`)
  print(
    `monitor with:  CALLWATCH_BASE_URL=${simulator.url} CALLWATCH_API_KEY=${simulator.keys.fullAccess} callwatch run`,
  )
  if (typeof options.history === 'object') {
    const lookback = Math.ceil(options.history.seconds / 86_400)
    print(
      `with history:  poll: { baseline: count, lookback: ${lookback}d } in its configuration counts the whole history`,
    )
  }
  await lastValueFrom(stopSignal())
  await simulator.close()
}

/**
 * How many calls there are. A history of a duration follows the week and has at most MAX_PAST_CALLS, on average. If nothing
 * else was asked for, as many calls begin afterwards, so that charts continue evenly.
 */
export function callsOf({ history = 100, callsPerMinute }: Pick<SimulateOptions, 'history' | 'callsPerMinute'>): Calls {
  if (typeof history === 'number') return { history, callsPerMinute: callsPerMinute ?? CALLS_PER_MINUTE }
  const minutes = history.seconds / 60
  const perMinute = callsPerMinute ?? Math.min(CALLS_PER_MINUTE, MAX_PAST_CALLS / minutes)
  const calls = Math.round(Math.min(perMinute * minutes, MAX_PAST_CALLS))
  return { history: Math.max(1, calls), historySeconds: history.seconds, weekly: true, callsPerMinute: perMinute }
}

function switchesOf(options: SimulateOptions): Partial<Switches> {
  const { seed = 1, chaos } = options
  const drawn = chaos === undefined ? {} : drawSwitches(switchTable, seed, chaos)
  const given = Object.entries(options).filter(([name, value]) => name in switchTable && value !== undefined)
  return { ...drawn, ...Object.fromEntries(given) }
}
