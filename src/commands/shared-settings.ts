import { createHash } from 'node:crypto'
import type { Config } from '../config/config.ts'
import type { Settings } from '../store/sharing.ts'
import { fingerprintOf } from './watch.ts'

/**
 * What all daemons on one store must agree in: what is watched, how it is counted and judged, and who is told. By the
 * names of the configuration; what is long, or could hold a secret, only as a digest.
 */
export function sharedSettings({ targets, poll, alerts, notify, store: { history } }: Config): Settings {
  const { slack, webhook, alertmanager, heartbeat, ...told } = notify
  return {
    ...named('targets', Object.fromEntries(targets.map((target) => [target.name, fingerprintOf(target)]))),
    ...named('poll', poll),
    ...named('alerts', Object.fromEntries(alerts.map((rule) => [rule.name, digest(rule)]))),
    ...named('notify', {
      slack: slack !== undefined,
      webhook: webhook !== undefined,
      alertmanager: alertmanager !== undefined,
      heartbeat: heartbeat !== undefined,
      ...told,
    }),
    'store.history': String(history),
  }
}

function named(section: string, values: object): Settings {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      `${section}.${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
      typeof value === 'object' && value !== null ? digest(value) : String(value),
    ]),
  )
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)
}
