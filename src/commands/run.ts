import { lastValueFrom } from 'rxjs'
import { systemClock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { secretsOf } from '../config/secrets-of.ts'
import { startDaemon } from './daemon.ts'
import { createLogger } from './logger.ts'
import { stopSignal } from './stop-signal.ts'
import { VERSION } from './version.ts'

/** The daemon: watches the configured targets until SIGTERM or SIGINT. */
export async function run(config: Config, { resetTarget }: { resetTarget: string | undefined }): Promise<void> {
  const log = createLogger({ level: config.log.level, secrets: secretsOf(config), stream: process.stdout })
  const stop$ = stopSignal()
  const daemon = await startDaemon({ config, clock: systemClock, random: Math.random, log, stop$, resetTarget })
  const names = config.targets.map(({ name }) => name)
  log.info({ targets: names, url: daemon.url, version: VERSION }, `watching ${names.join(', ')}; page at ${daemon.url}`)
  await lastValueFrom(daemon.events$, { defaultValue: undefined })
  log.info('stopped')
}
