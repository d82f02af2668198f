import { createHash } from 'node:crypto'
import { z } from 'zod'
import { configSchema, type Config } from '../config/config.ts'
import { namedReceiverNames, receiverNames } from '../notifications/receivers.ts'
import type { Setting, Settings } from '../store/settings.ts'
import { targetFingerprint } from '../pipeline/target.ts'

/**
 * The settings that all daemons on one store must have in common: the targets, how they are counted and evaluated, and the
 * receivers. Named as in the configuration file. Long values, and values that could contain a secret, are digests.
 */
export function sharedSettings(config: Config): Settings {
  const { targets, alerts } = config
  const { poll = {}, notify = {}, store = {}, events = {} } = z.encode(configSchema, config)
  const { receivers = [], ...others } = notify
  // Of a receiver, only its name and type. Each daemon may use another address and key.
  const named = receivers.map((item) => [item.name, namedReceiverNames.find((type) => item[type] !== undefined)])
  const areSet = receiverNames.map((name) => [name, isSet(notify[name])])
  return {
    targets: namesOf(targets),
    alerts: namesOf(alerts),
    ...inSection('targets', Object.fromEntries(targets.map((target) => [target.name, [targetFingerprint(target)]]))),
    ...inSection('alerts', Object.fromEntries(alerts.map((rule) => [rule.name, rule]))),
    ...inSection('poll', poll),
    ...inSection('notify', {
      ...others,
      ...Object.fromEntries(areSet),
      receivers: named,
    }),
    ...inSection('store', { history: store.history }),
    ...inSection('events', events),
  }
}

function namesOf(things: readonly { name: string }[]): string[] {
  return things.map(({ name }) => name).toSorted()
}

function inSection(section: string, values: object): Settings {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`${section}.${name}`, settingOf(value)]))
}

/** Also compared if it is not set here, because another daemon may have set it. */
function isSet(value: object | undefined): string {
  return value === undefined ? 'not set' : 'set'
}

function settingOf(value: unknown): Setting {
  if (typeof value !== 'object' || value === null) return String(value)
  return { digest: createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16) }
}
