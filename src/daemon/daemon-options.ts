import type { Logger } from 'pino'
import type { Observable } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import type { SecretsMask } from '../log/mask-secrets.ts'
import type { ConfigReading } from './config-readings.ts'

export type DaemonOptions = {
  /** The configuration at the start. */
  config: Config
  /** Whether commands find its file only by `--config`. */
  isNamed?: boolean
  /** The configurations that are read while the daemon runs. */
  readings$?: Observable<ConfigReading>
  /** Learns the secrets of each configuration before the configuration becomes active. */
  secrets?: SecretsMask
  clock: Clock
  /** A random number from 0 to 1. */
  random: () => number
  log: Logger
  /** How many lines of the log could not be written. */
  droppedLines?: () => number
  /** Emits when the daemon must stop; must replay. */
  draining$: Observable<unknown>
  /** A target whose stored state is deleted before it is polled. */
  resetTarget?: string | undefined
}
