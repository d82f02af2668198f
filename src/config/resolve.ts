import type { Rule } from '../alerts/rule.ts'
import type { Config, TargetConfig } from './config.ts'
import type { FileConfig } from './file-schema.ts'
import { hostOf } from './web-address.ts'

const defaultDomain = 'cometchat.io'
const defaultStatusMap = { cancelled: 'canceled', missed: 'unanswered', busy: 'rejected' } as const

/** From what the file says, checked, to what the program needs. */
export function resolve(file: FileConfig): Config {
  const { slack, ...notify } = file.notify
  return {
    ...file,
    targets: file.targets.map(resolveTarget),
    poll: { ...file.poll, statusMap: resolveStatusMap(file.poll.statusMap) },
    notify: { ...notify, ...(slack && { slack: { ...slack, webhookUrl: checked(slack.webhookUrl) } }) },
    alerts: file.alerts.map((rule): Rule => ({ ...rule, clear: rule.clear ?? rule.above })),
  }
}

/** The way back: a file that says the same, every default written out, targets by their whole addresses. */
export function toFile(config: Config): FileConfig {
  return config
}

function resolveTarget(target: FileConfig['targets'][number]): TargetConfig {
  const { appId, region, domain = defaultDomain, onBehalfOf, query } = target
  const address = (kind: 'call' | 'api') => `https://${appId}.${kind}-${region}.${domain}/v3`
  const baseUrl = target.baseUrl ?? address('call')
  const chatBaseUrl = target.baseUrl === undefined ? address('api') : target.chatBaseUrl
  return {
    name: checked(target.name ?? appId ?? hostOf(baseUrl)),
    baseUrl: withoutSlash(baseUrl),
    ...(chatBaseUrl !== undefined && { chatBaseUrl: withoutSlash(chatBaseUrl) }),
    apiKey: checked(target.apiKey),
    ...(onBehalfOf !== undefined && { onBehalfOf }),
    query,
  }
}

function resolveStatusMap(added: FileConfig['poll']['statusMap']): FileConfig['poll']['statusMap'] {
  const lowerCase = Object.entries(added).map(([spelling, status]) => [spelling.toLowerCase(), status])
  return { ...defaultStatusMap, ...Object.fromEntries(lowerCase) }
}

function withoutSlash(address: string): string {
  return address.replace(/\/+$/, '')
}

/** The schema has already refused a file without it. */
function checked<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a configuration without an indispensable value passed the checks')
  return value
}
