import type { z } from 'zod'
import { address } from '../../../schema/scalars.ts'
import { secret } from '../../../schema/secret.ts'
import { section } from '../../../schema/section.ts'
import type { ReceiverType } from '../../receiver.ts'

const heartbeatSection = section({
  url: secret(address(), {
    of: 'the URL',
    about: 'Requested once a minute while rules are evaluated',
    example: 'HEARTBEAT_URL',
  }),
})

export type HeartbeatConfig = z.output<typeof heartbeatSection>

/** A dead man's switch: a service that notices when the requests of its URL stop. */
export const heartbeat: ReceiverType<typeof heartbeatSection> = {
  about: "Dead man's switch: a URL that is requested while callwatch works",
  section: heartbeatSection,
  notRouted: 'the heartbeat gets no alerts',
  create: async (config, { clock }) => {
    const { heartbeats } = await import('./heartbeats.ts')
    return { refresh: heartbeats({ ...config, clock }), isHeartbeat: true }
  },
}
