import { duration, longestTimer } from '../../../schema/duration.ts'
import { address } from '../../../schema/scalars.ts'
import { secret } from '../../../schema/secret.ts'
import { section } from '../../../schema/section.ts'

/** An address that is called for as long as callwatch works. It takes no messages: heartbeats.ts calls it. */
export const heartbeat = {
  about: 'An address that notices when it is no longer called',
  section: section({
    url: secret(address(), { of: 'the address', about: 'Called while evaluation works', example: 'HEARTBEAT_URL' }),
    interval: duration({ max: longestTimer }).prefault('1m').describe('How often it is called'),
  }),
}
