import { systemClock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { createAuthToken } from '../service/auth-token.ts'
import { undiciTransport } from '../service/undici-transport.ts'
import { UsageError } from './explain-error.ts'

/**
 * Creates an auth token for an end user and prints it.
 *
 * @throws {UsageError} when the target is ambiguous, or its chat service unknown
 * @throws {ServiceError}
 */
export async function token(
  config: Config,
  uid: string,
  targetName: string | undefined,
  print: (line: string) => void,
): Promise<void> {
  const names = config.targets.map(({ name }) => name).join(', ')
  const [first, second] = config.targets
  if (targetName === undefined && second !== undefined) {
    throw new UsageError(`there are several targets; choose one with --target: ${names}`)
  }
  const target = targetName === undefined ? first : config.targets.find(({ name }) => name === targetName)
  if (target === undefined) throw new UsageError(`there is no target ${targetName}; there is: ${names}`)
  if (target.chatBaseUrl === undefined) {
    throw new UsageError(`target ${target.name} has a base_url; set its chat_base_url too, the chat service's address`)
  }
  const transport = undiciTransport(target.chatBaseUrl, config.poll.maxAnswerBytes)
  try {
    const signal = AbortSignal.timeout(config.poll.timeout * 1000)
    print(await createAuthToken(transport.send, { apiKey: target.apiKey, uid, hostTime: systemClock.wall(), signal }))
  } finally {
    await transport.close()
  }
}
