import type { Clock } from '../clock/clock.ts'
import { logReceiver, type LogLine } from './log-receiver.ts'
import type { Receiver } from './receiver.ts'
import type { NotifyConfig } from './notify-section.ts'
import type { MessageReceiverType } from './receiver-type.ts'
import { alertReceiverNames, receivers, type AlertReceiverName } from './receivers.ts'

export type ReceiverDeps = {
  clock: Clock
  log: (line: LogLine) => void
  /** Where alerts are shown; else {@link pageUrlIn}. */
  pageUrl?: string | undefined
}

/** A receiver of alerts as it is configured. */
export type ConfiguredReceiver = {
  [Type in AlertReceiverName]: { name: string; type: Type; config: NonNullable<NotifyConfig[Type]> }
}[AlertReceiverName]

/** All receivers of alerts: those under their types' keys, which are their names, and then the named ones. */
export function receiversIn(notify: NotifyConfig): ConfiguredReceiver[] {
  const shorthands: NotifyConfig['receivers'] = alertReceiverNames.map((type) => ({ name: type, [type]: notify[type] }))
  return [...shorthands, ...notify.receivers].flatMap((item) =>
    alertReceiverNames.flatMap((type) => {
      const config = item[type]
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- TypeScript cannot tell which config belongs to which type
      return config === undefined ? [] : [{ name: item.name, type, config } as ConfiguredReceiver]
    }),
  )
}

/** Those that take messages. Alertmanagers take alerts as they are. */
export function messageReceiversIn(notify: NotifyConfig) {
  return receiversIn(notify).filter((one) => one.type !== 'alertmanager')
}

/** Those of the named receivers that a digest can be sent to: Alertmanager's format has none. */
export function digestRecipients(notify: NotifyConfig, names: readonly string[]): string[] {
  const others = receiversIn(notify).filter(({ config }) => 'format' in config && config.format === 'alertmanager')
  return names.filter((name) => !others.some((other) => other.name === name))
}

export function alertmanagersIn(notify: NotifyConfig) {
  return receiversIn(notify).filter((one) => one.type === 'alertmanager')
}

/** Where alerts are shown, as the first receiver with such a link has it. */
export function pageUrlIn(notify: NotifyConfig): string | undefined {
  return receiversIn(notify)
    .map(({ config }) => ('dashboardUrl' in config ? config.dashboardUrl : undefined))
    .find((url) => url !== undefined)
}

/** Each configured receiver of messages; the log, where there is none. */
export async function configuredReceivers(
  notify: NotifyConfig,
  { clock, log, pageUrl = pageUrlIn(notify) }: ReceiverDeps,
): Promise<readonly Receiver[]> {
  const configured = messageReceiversIn(notify).map(async ({ name, type, config }) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- TypeScript cannot tell which config belongs to which type
    const receiver = receivers[type] as MessageReceiverType
    return { name, send: await receiver.create(config, { clock, name, pageUrl }) }
  })
  return configured.length > 0 ? Promise.all(configured) : [logReceiver(log)]
}
