import { lastValueFrom } from 'rxjs'
import { systemClock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { secretsOf } from '../config/secrets-of.ts'
import { startDaemon } from './daemon.ts'
import { createLogger } from './logger.ts'
import { maskSecrets } from './mask-secrets.ts'
import { stopSignal } from './stop-signal.ts'
import { UsageError } from './usage-error.ts'
import { VERSION } from './version.ts'

/**
 * The daemon: watches the configured targets until SIGTERM or SIGINT.
 *
 * @throws {UsageError} when the target to reset is none of the configured ones
 */
export async function run(config: Config, { resetTarget }: { resetTarget: string | undefined }): Promise<void> {
  const names = config.targets.map(({ name }) => name)
  if (resetTarget !== undefined && !names.includes(resetTarget)) {
    throw new UsageError(`there is no target ${resetTarget} to reset; there is: ${names.join(', ')}`)
  }
  const mask = maskSecrets(secretsOf(config))
  const log = createLogger({ level: config.log.level, mask, stream: process.stdout })
  const stop$ = stopSignal()
  const daemon = await startDaemon({ config, clock: systemClock, random: Math.random, log, stop$, resetTarget })
  log.info({ targets: names, url: daemon.url, version: VERSION }, `watching ${names.join(', ')}; page at ${daemon.url}`)
  await lastValueFrom(daemon.events$, { defaultValue: undefined })
  log.info('stopped')
}
