import type { Config, StoreConfig, TargetConfig } from './config.ts'
import { z } from 'zod'
import { fileSchema, type FileConfig } from './schema/file-schema.ts'
import type { TlsFiles } from './reading/read-tls-files.ts'
import { resolveRule, ruleToFile } from './schema/rules/resolve-rule.ts'
import { DEFAULT_LEASE, DEFAULT_STORE_PATH } from './schema/store-schema.ts'
import { hostOf } from './schema/web-address.ts'

const defaultDomain = 'cometchat.io'
/** Twice what a call with 50 participants takes, which is the most that a call has. */
const BYTES_PER_CALL = 32 * 1024
/** Also for services that ignore the size of pages. */
const LEAST_ANSWER = 1024 * 1024
const defaultStatusMap = { cancelled: 'canceled', missed: 'unanswered', busy: 'rejected' } as const

/**
 * From what the file says, checked, to what the program needs.
 *
 * @param tls what the files of `http.tls` hold, where it is given
 */
export function resolve(file: FileConfig, tls: TlsFiles | undefined): Config {
  return {
    ...file,
    targets: file.targets.map(resolveTarget),
    poll: resolvePoll(file.poll),
    store: resolveStore(file.store),
    http: resolveHttp(file.http, tls),
    notify: resolveNotify(file.notify),
    alerts: file.alerts.map(resolveRule),
  }
}

/** The way back: a file that says the same, every default written out, targets by their whole addresses, with its secrets. */
export function writtenOut(config: Config): z.input<typeof fileSchema> {
  const { tls, ...http } = config.http
  const files = tls && { certFile: tls.certFile, keyFile: tls.keyFile }
  const file = { ...config, http: { ...http, ...(files && { tls: files }) }, alerts: config.alerts.map(ruleToFile) }
  return z.encode(fileSchema, file)
}

function resolveStore({
  path = DEFAULT_STORE_PATH,
  url,
  lease = DEFAULT_LEASE,
  history,
}: FileConfig['store']): StoreConfig {
  return url === undefined ? { path, history } : { url, lease, history }
}

function resolveHttp({ auth, tls, ...http }: FileConfig['http'], held: TlsFiles | undefined): Config['http'] {
  return {
    ...http,
    ...(auth && { auth: { ...auth, password: checked(auth.password) } }),
    ...(tls && { tls: { ...tls, ...checked(held) } }),
  }
}

function resolveNotify(file: FileConfig['notify']): Config['notify'] {
  const { slack, alertmanager, webhook, heartbeat, ...notify } = file
  return {
    ...notify,
    ...(slack && { slack: { ...slack, webhookUrl: checked(slack.webhookUrl) } }),
    ...(alertmanager && { alertmanager: { url: withoutSlash(alertmanager.url) } }),
    ...(webhook && { webhook: { ...webhook, url: checked(webhook.url) } }),
    ...(heartbeat && { heartbeat: { ...heartbeat, url: checked(heartbeat.url) } }),
  }
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

function resolvePoll(poll: FileConfig['poll']): Config['poll'] {
  const { pageSize, maxAnswerBytes = Math.max(LEAST_ANSWER, pageSize * BYTES_PER_CALL), statusMap } = poll
  return { ...poll, maxAnswerBytes, statusMap: resolveStatusMap(statusMap) }
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
