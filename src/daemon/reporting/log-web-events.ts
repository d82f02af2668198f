import type { Logger } from 'pino'
import type { OperationalMetrics } from '../../metrics/operational-metrics.ts'
import type { WebEvent } from '../../web/authentication.ts'
import { silenceView } from '../../views/silence.ts'

/** Logs and counts what users did over HTTP, with the client's address. */
export function logWebEvents(
  log: Logger,
  { loginFailures, silenceChanges }: OperationalMetrics,
): (event: WebEvent) => void {
  return (event) => {
    // A server at `::` has clients by IPv4 as well.
    const peer = event.peer.replace(/^::ffff:(?=[\d.]+$)/, '')
    if (event.kind === 'login failed') {
      loginFailures.inc()
      // Their number has no limit.
      if (!event.refused) log.warn({ peer }, `log-in failed: wrong user name or password, from ${peer}`)
      return
    }
    const { user } = event
    if (event.kind === 'calls searched') {
      const { target } = event
      log.info(
        { peer, user, target },
        `${user} searched the service for calls of a user, a group or a session, from ${peer}`,
      )
      return
    }
    if (event.kind === 'receivers tested') {
      log.info({ peer, user }, `${user} sent samples to all receivers, from ${peer}`)
      return
    }
    const change = event.kind.slice('silence '.length)
    const silence = event.kind === 'silence expired' ? { id: event.id } : silenceView(event.silence)
    silenceChanges.inc({ change })
    log.info({ peer, user, silence }, `silence ${silence.id} was ${change} over the API by ${user} from ${peer}`)
  }
}
