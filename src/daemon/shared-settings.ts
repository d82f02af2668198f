import { createHash } from 'node:crypto'
import type { Config } from '../config/config.ts'
import type { Settings } from '../store/sharing.ts'
import { fingerprintOf } from './watch.ts'

/**
 * What all daemons on one store must agree in: what is watched, how it is counted and judged, and who is told. By the
 * names of the configuration; what is long, or could hold a secret, only as a digest. Settings that only one version of
 * callwatch knows are not compared, so that a new one may run beside an old one.
 */
export function sharedSettings({ targets, poll, alerts, notify, store: { history } }: Config): Settings {
  const { slack, webhook, alertmanager, heartbeat, ...told } = notify
  return {
    targets: listed(targets),
    alerts: listed(alerts),
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

/** All there are: a name that only one side has is compared nowhere else. */
function listed(things: readonly { name: string }[]): string {
  return things
    .map(({ name }) => name)
    .toSorted()
    .join(', ')
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
