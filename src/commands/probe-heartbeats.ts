import { systemClock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { DeliveryError } from '../network/delivery-error.ts'
import { configuredReceivers } from '../notifications/configured-receivers.ts'
import type { HeartbeatProbe } from '../views/commands/check.ts'

/** Requests each heartbeat once, as a daemon that works does. */
export async function probeHeartbeats({ notify }: Pick<Config, 'notify'>): Promise<HeartbeatProbe[]> {
  const created = await configuredReceivers(notify, { clock: systemClock })
  const heartbeats = created.flatMap(({ receiver }) => ('isHeartbeat' in receiver ? [receiver] : []))
  return Promise.all(
    heartbeats.map(async ({ name: receiver, refresh }) => {
      try {
        await refresh({ alerts: () => [], isWorking: () => true, interval: () => 0 })?.()
        return { receiver, works: true, message: 'the request was accepted' }
      } catch (error) {
        if (!(error instanceof DeliveryError)) throw error
        return { receiver, works: false, message: `${error.message}; check its url` }
      }
    }),
  )
}
