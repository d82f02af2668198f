import { lastValueFrom } from 'rxjs'
import { drawSwitches } from '../simulator/draw-switches.ts'
import { startSimulator, type SimulatorOptions } from '../simulator/simulator.ts'
import { switchNames, type Switches } from '../simulator/switches.ts'
import { stopSignal } from './stop-signal.ts'

export type SimulateOptions = Omit<SimulatorOptions, 'switches'> &
  Partial<Switches> & {
    /** Draws the other switches from the seed with this intensity, 0 to 1; absent: the calm defaults. */
    chaos?: number
  }

/** Runs the simulator alone, until SIGTERM or SIGINT. */
export async function simulate(options: SimulateOptions, print: (line: string) => void): Promise<void> {
  const simulator = await startSimulator({ ...options, switches: switchesOf(options) })
  const origin = new URL(simulator.url).origin
  print(`calls service: ${simulator.url}`)
  print(`api key:       ${simulator.keys.fullAccess} (fullAccess), ${simulator.keys.authOnly} (authOnly)`)
  print(`event log:     ${origin}/_simulator/ledger`)
  print(`switches:      ${origin}/_simulator/switches`)
  print(`monitor with:  CALLWATCH_BASE_URL=${simulator.url} CALLWATCH_API_KEY=${simulator.keys.fullAccess} npm start`)
  await lastValueFrom(stopSignal())
  await simulator.close()
}

function switchesOf(options: SimulateOptions): Partial<Switches> {
  const { seed = 1, chaos } = options
  const drawn = chaos === undefined ? {} : drawSwitches(seed, chaos)
  const given = switchNames.filter((name) => options[name] !== undefined).map((name) => [name, options[name]])
  return { ...drawn, ...Object.fromEntries(given) }
}
