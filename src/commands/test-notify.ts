import { systemClock } from '../clock/clock.ts'
import { secretsOf } from '../config/secrets.ts'
import { configuredReceivers, takesMessages } from '../notifications/configured-receivers.ts'
import { messageReceiverNames } from '../notifications/receivers.ts'
import { sendSamples } from '../notifications/sample.ts'
import { maskSecrets } from '../log/mask-secrets.ts'
import type { Declare } from './command.ts'

/** Sends a sample firing and a sample resolved notification to every receiver, and each heartbeat. Succeeds if all of them are accepted. */
export const declare: Declare = (command, { configured, print, succeed }) =>
  void command.action(async (options) => {
    const config = await configured(options)
    const mask = maskSecrets(secretsOf(config))
    const created = await configuredReceivers(config.notify, { clock: systemClock })
    const receivers = created.map(({ receiver }) => receiver)
    if (!receivers.some(takesMessages))
      print(`neither ${messageReceiverNames.join(' nor ')} is configured: alerts and reports are lines of the log`)
    if (config.http.publicUrl === undefined) print('messages have links once `http.public_url` is set')
    for await (const { receiver, what, problems } of sendSamples(
      receivers,
      config.targets[0]!.name,
      systemClock.wall(),
    )) {
      if (problems.length === 0) print(`${receiver}: ${what} was accepted`)
      else succeed(false)
      for (const problem of problems) print(mask(`${receiver}: ${what} failed: ${problem}`))
    }
  })
