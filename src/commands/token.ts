import { systemClock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import type { TargetConfig } from '../service/target-section.ts'
import { createAuthToken } from '../service/auth-token.ts'
import { undiciTransport } from '../service/undici-transport.ts'
import { CONFIG, type Declare } from './command.ts'
import { UsageError } from './explain-error.ts'

/** Creates an auth token for an end user and prints it. */
export const declare: Declare = (command, { configured, print }) =>
  void command
    .argument('<uid>', 'ID of the user')
    .option(...CONFIG)
    .option('--target <name>', 'use the chat service of this target; required with several targets')
    .action(async (uid, options) => {
      const config = await configured(options)
      const { name, apiKey, chatBaseUrl } = targetOf(config, options.target)
      if (chatBaseUrl === undefined) {
        throw new UsageError(`target ${name} has a base_url; set its chat_base_url too, the chat service's address`)
      }
      const transport = undiciTransport(chatBaseUrl, config.poll.maxAnswerBytes)
      try {
        const signal = AbortSignal.timeout(config.poll.timeout * 1000)
        print(await createAuthToken(transport.send, { apiKey, uid, hostTime: systemClock.wall(), signal }))
      } finally {
        await transport.close()
      }
    })

function targetOf({ targets }: Config, name: string | undefined): TargetConfig {
  const names = targets.map((target) => target.name).join(', ')
  if (name === undefined && targets.length > 1) {
    throw new UsageError(`there are several targets; choose one with --target: ${names}`)
  }
  const target = name === undefined ? targets[0] : targets.find((one) => one.name === name)
  if (target === undefined) throw new UsageError(`there is no target ${name}; there is: ${names}`)
  return target
}
