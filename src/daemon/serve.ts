import { isLoopback } from '../network/loopback.ts'
import { pageUrl } from '../web/http-section.ts'
import { suppressedAlerts } from '../notifications/delivery/suppress.ts'
import { grouping } from '../notifications/grouping.ts'
import { shownLog } from '../events/read-events.ts'
import { startWeb, type Web } from '../web/server.ts'
import { logWebEvents } from './reporting/log-web-events.ts'
import { freshFrom, receiversOf } from './notifying/messages-options.ts'
import { testNotify } from './notifying/test-notify.ts'
import type { DaemonEvent } from './daemon-event.ts'
import type { DaemonParts } from './parts.ts'
import { searchIn } from './search.ts'
import { VERSION } from './version.ts'
import { exposer } from './expose.ts'

/**
 * Serves the page, the API and the metrics.
 *
 * @returns the server, and the address at which a browser on this machine finds the page
 * @throws {Error} with a `code` if the server cannot listen on its address
 */
export async function serve(
  options: DaemonParts & { report: (event: DaemonEvent) => void },
): Promise<Web & { url: string }> {
  const { config, store, clock, log, targets, overviews, ownership, metrics, receivers, failures, hints } = options
  const { http } = config()
  const search = searchIn({ ...options, loaded: targets.loaded })
  const web = await startWeb({
    ...http,
    // Whether there is a password does not change while the daemon runs.
    auth: http.auth && (() => config().http.auth!),
    find: () => (config().http.find ? search : undefined),
    publicUrl: () => config().http.publicUrl,
    version: VERSION,
    isNamed: options.isNamed,
    targets: {
      all: targets.all,
      own: targets.loaded,
      loading: targets.loading,
      others: overviews.others,
      areOthersKnown: overviews.wereRead,
    },
    configured: () => config().targets,
    known: () => ({ alert: config().alerts.map(({ name }) => name), target: targets.all() }),
    groupOf: () => grouping(config().notify, config().alerts),
    freshFrom: freshFrom(options),
    receivers: () => receivers.names().map((name) => ({ name, failure: failures.of(name) })),
    rules: () => config().alerts,
    receiversOf: (rule, names) => receiversOf(options, rule, names),
    testNotify: () => testNotify(options),
    suppressed: (alerts, silences) =>
      suppressedAlerts(alerts, { notify: config().notify, silences, now: clock.wall() }),
    store: { ...store, ...shownLog(store, () => config().events.participants) },
    problem: ownership.problem,
    expose: exposer(options),
    wall: clock.wall,
    onEvent: logWebEvents(log, metrics.operational),
    hookOf: (name) => {
      const target = config().targets.find((one) => one.name === name)
      return target?.webhook && { credentials: target.webhook, appId: target.appId }
    },
    onHint: (target, hint) => hints.pass({ target, hint }),
    onHook: ({ target, trigger, outcome }) => metrics.operational.serviceWebhooks.inc({ target, trigger, outcome }),
  })
  if (http.auth === undefined && !isLoopback(http.host)) {
    log.warn(
      `the page and the API are open to other hosts without a password (http.host ${http.host}): set http.auth, ` +
        'or set http.host to 127.0.0.1, or publish the port of a container on 127.0.0.1 only',
    )
  }
  return { ...web, url: pageUrl(http, web.port) }
}
