import {
  catchError,
  concatMap,
  defer,
  delay,
  EMPTY,
  endWith,
  firstValueFrom,
  ignoreElements,
  map,
  race,
  throwError,
} from 'rxjs'
import { systemClock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { secretsOf } from '../config/secrets.ts'
import { configWarnings } from '../config/warnings.ts'
import { configReadings } from '../daemon/config-readings.ts'
import { startDaemon } from '../daemon/daemon.ts'
import { StoppedError } from '../daemon/parts.ts'
import { createLogger } from '../log/logger.ts'
import { logOutput } from '../log/log-output.ts'
import { secretsMask } from '../log/mask-secrets.ts'
import { VERSION } from '../daemon/version.ts'
import { hangUpSignal, stopSignal } from './stop-signal.ts'

/** From the signal to the end (seconds), whatever has not answered by then. Supervisors often kill a process after ten. */
const STOPPED_WITHIN_SECONDS = 9

type RunOptions = { config?: string | undefined; resetTarget?: string | undefined }

/**
 * Runs the daemon until SIGTERM or SIGINT. It reloads a changed configuration while it runs, and at once on SIGHUP.
 *
 * @param load reads the configuration
 * @throws {ConfigError} if the configuration is invalid at startup
 * @throws {QueryError} if neither the configuration nor the store has the target to reset
 */
export async function runDaemon(load: () => Config, { config: file, resetTarget }: RunOptions): Promise<void> {
  const requested$ = hangUpSignal()
  const draining$ = stopSignal()
  const config = load()
  const names = config.targets.map(({ name }) => name)
  const secrets = secretsMask(secretsOf(config))
  const output = logOutput(process.stdout)
  const log = createLogger({ level: config.log.level, mask: secrets.mask, stream: output })
  const clock = systemClock
  const readings$ = configReadings({ load, first: config, requested$, clock, draining$ })
  const { dropped: droppedLines } = output
  const { random } = Math
  const isNamed = file !== undefined
  const options = { config, isNamed, readings$, secrets, clock, random, log, droppedLines, draining$, resetTarget }
  const run$ = defer(() => startDaemon(options)).pipe(
    catchError((error: unknown) => (error instanceof StoppedError ? EMPTY : throwError(() => error))),
    concatMap((daemon) => {
      const shared = 'url' in config.store ? ' with other daemons' : ''
      const message = `monitoring ${names.join(', ')}${shared}; page at ${daemon.url}`
      log.info({ targets: names, url: daemon.url, version: VERSION }, message)
      for (const warning of configWarnings(config)) log.warn(warning)
      return daemon.events$
    }),
    ignoreElements(),
    endWith(true),
  )
  const tooLate$ = draining$.pipe(
    delay(STOPPED_WITHIN_SECONDS * 1000, clock.scheduler),
    map(() => false),
  )
  if (await firstValueFrom(race(run$, tooLate$))) log.info('stopped')
  else
    log.warn(
      `stopped ${STOPPED_WITHIN_SECONDS} s after the signal without all answers, of the store for example: the next start counts ` +
        'and sends what is missing',
    )
}
