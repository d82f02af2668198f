import { lastValueFrom } from 'rxjs'
import { startSimulator, type SimulatorOptions } from '../simulator/simulator.ts'
import { stopSignal } from './stop-signal.ts'

/** The simulator alone, until SIGTERM or SIGINT. */
export async function simulate(options: SimulatorOptions, print: (line: string) => void): Promise<void> {
  const simulator = await startSimulator(options)
  const origin = new URL(simulator.url).origin
  print(`calls service: ${simulator.url}`)
  print(`api key:       ${simulator.keys.fullAccess} (fullAccess), ${simulator.keys.authOnly} (authOnly)`)
  print(`what happened: ${origin}/_simulator/ledger`)
  print(`switches:      ${origin}/_simulator/switches`)
  await lastValueFrom(stopSignal())
  await simulator.close()
}
