import { join } from 'node:path'
import type { Notifying } from '../processes/notify.ts'
import type { Scenario } from '../scenario.ts'

/** Nearly ten thousand alerts, which begin at once, and ten receivers. */
const TARGETS = 300
const RECEIVERS = 10
/** Until all are notified, and then (seconds). */
const STORM_SECONDS = 45
const REST_SECONDS = 30

/** What the event loop and the processor have to do for receivers while many alerts fire. */
export const notifying: Scenario = {
  name: 'notifying',
  rows: ['notifying', 'notifying (at rest)', 'notifying (cpu at rest)'],
  run: async (bench) => {
    const path = join(bench.folder, 'notifying.db')
    const daemon = await bench.start('notify', { path, targets: TARGETS, receivers: RECEIVERS })
    const storm = await daemon.ask<Notifying>({ seconds: STORM_SECONDS })
    const rest = await daemon.ask<Notifying>({ seconds: REST_SECONDS })
    const note = `${storm.messages} messages in ${STORM_SECONDS} s, ${storm.cpu.toFixed(0)} ms of processor a second`
    return [
      { row: 'notifying', measured: storm.turn, target: 30, unit: 'ms', note: `longest turn; ${note}` },
      { row: 'notifying (at rest)', measured: rest.turn, target: 30, unit: 'ms', note: 'longest turn' },
      { row: 'notifying (cpu at rest)', measured: rest.cpu, target: 50, unit: 'ms a second' },
    ]
  },
}
