import { knownNames } from '../schema/nearest-key.ts'
import { systemClock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { createAuthToken } from '../service/auth-token.ts'
import { getCallText } from '../service/calls-client.ts'
import type { TargetConfig } from '../service/target-section.ts'
import { undiciTransport } from '../service/undici-transport.ts'
import { subcommand, type Declare } from './command.ts'
import { UsageError } from './explain-error.ts'

/** Commands that use the service's own operations for other purposes than counting. */
export const declare: Declare = (service, { configured, print }) => {
  subcommand(service, 'token', 'Create an auth token for a user and print it')
    .argument('<uid>', 'ID of the user')
    .option('--target <name>', 'use the chat service of this target; required with several targets')
    .action(async (uid, options) => {
      const config = await configured(options)
      const { name, apiKey, chatBaseUrl } = targetOf(config, options.target)
      if (chatBaseUrl === undefined) {
        throw new UsageError(`target ${name} has a base_url; set its chat_base_url too, the chat service's address`)
      }
      const request = { apiKey, uid, hostTime: systemClock.wall(), signal: timeoutOf(config) }
      print(await createAuthToken(undiciTransport(chatBaseUrl, config.poll.maxAnswerBytes), request))
    })
  subcommand(service, 'call', "Print the answer of Get Call unchanged, to send it to the service's support")
    .argument('<session-id>', 'ID of the call')
    .option('--target <name>', 'request it from this target; required with several targets')
    .action(async (sessionId, options) => {
      const config = await configured(options)
      const target = targetOf(config, options.target)
      const transport = undiciTransport(target.baseUrl, config.poll.maxAnswerBytes)
      const client = { ...target, ...config.poll, wall: systemClock.wall }
      print((await getCallText(transport, client, sessionId, timeoutOf(config))).trimEnd())
    })
}

/** @throws {UsageError} if there is no such target, or the name is missing and there are several */
export function targetOf({ targets }: Pick<Config, 'targets'>, name: string | undefined): TargetConfig {
  if (name === undefined && targets.length > 1) {
    throw new UsageError(`there are several targets; choose one with --target: ${namesOf(targets).join(', ')}`)
  }
  return targetsOf({ targets }, name === undefined ? undefined : [name])[0]!
}

/**
 * The configured targets with these names, or all.
 *
 * @throws {UsageError} if there is no such target
 */
export function targetsOf({ targets }: Pick<Config, 'targets'>, names: readonly string[] | undefined): TargetConfig[] {
  const known = namesOf(targets)
  const unknown = names?.find((name) => !known.includes(name))
  if (unknown !== undefined) throw new UsageError(`there is no target ${unknown}; ${knownNames(unknown, known)}`)
  return targets.filter(({ name }) => names?.includes(name) !== false)
}

const namesOf = (targets: readonly TargetConfig[]) => targets.map(({ name }) => name)

function timeoutOf({ poll }: Config): AbortSignal {
  return AbortSignal.timeout(poll.timeout * 1000)
}
