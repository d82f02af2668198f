import type { Logger } from 'pino'
import type { OperationalMetrics } from '../metrics/operational-metrics.ts'
import type { WebEvent } from '../web/authentication.ts'
import { silenceView } from '../web/silences-route.ts'

/** Logs and counts what users did over HTTP, with the address of the client. */
export function logWebEvents(
  log: Logger,
  { loginFailures, silenceChanges }: OperationalMetrics,
): (event: WebEvent) => void {
  return (event) => {
    const { peer } = event
    switch (event.kind) {
      case 'login failed':
        loginFailures.inc()
        log.warn({ peer }, `log-in failed: wrong user name or password, from ${peer}`)
        return
      case 'silence added': {
        const { user, silence } = event
        silenceChanges.inc({ change: 'added' })
        log.info(
          { peer, user, silence: silenceView(silence) },
          `silence ${silence.id} was added over the API by ${user} from ${peer}`,
        )
        return
      }
      case 'silence edited': {
        const { user, silence } = event
        silenceChanges.inc({ change: 'edited' })
        log.info(
          { peer, user, silence: silenceView(silence) },
          `silence ${silence.id} was edited over the API by ${user} from ${peer}`,
        )
        return
      }
      case 'silence expired': {
        const { user, id } = event
        silenceChanges.inc({ change: 'expired' })
        log.info({ peer, user, silence: { id } }, `silence ${id} was expired over the API by ${user} from ${peer}`)
      }
    }
  }
}
