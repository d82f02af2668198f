import { duration, longestTimer } from '../../../schema/duration.ts'
import { address } from '../../../schema/scalars.ts'
import { secret } from '../../../schema/secret.ts'
import { section } from '../../../schema/section.ts'

/** A dead man's switch: heartbeats.ts requests the URL while callwatch works. It takes no messages. */
export const heartbeat = {
  about: "Dead man's switch: a URL that is requested while callwatch works",
  section: section({
    url: secret(address(), { of: 'the URL', about: 'Requested while rules are evaluated', example: 'HEARTBEAT_URL' }),
    interval: duration({ max: longestTimer }).prefault('1m').describe('How often it is requested'),
  }),
}
