import { receiverWarnings } from '../notifications/notify-section.ts'
import type { Config } from './config.ts'
import { leftOutWarnings } from './shipped-rules.ts'

/** What a user should know of a valid configuration, each in a sentence without secrets. */
export function configWarnings(config: Config): string[] {
  return [
    ...(config.unknownVariables ?? []),
    ...leftOutWarnings(config),
    ...receiverWarnings(config.notify),
    ...(config.http.find && config.http.auth === undefined
      ? ['http.find: without http.auth nobody can search for calls']
      : []),
  ]
}
