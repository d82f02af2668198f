import type { AlertMatch } from '../alerts/match.ts'
import type { Rule } from '../alerts/rule.ts'

/** A status that the calls service documents. */
export type DocumentedStatus = 'initiated' | 'ongoing' | 'ended' | 'unanswered' | 'rejected' | 'canceled'

/**
 * Everything that a command needs to know, checked and complete. Every duration is in seconds; an optional field
 * that nobody set is absent.
 */
export type Config = {
  /** At least one, names distinct. */
  targets: TargetConfig[]
  poll: PollConfig
  store: StoreConfig
  http: HttpConfig
  notify: NotifyConfig
  /** Names distinct; empty when the user wants none. */
  alerts: Rule[]
  log: LogConfig
}

/** One app of the calls service, under one key. */
export type TargetConfig = {
  /** The value of the label `target`. */
  name: string
  /** Address of the calls service with the path prefix, without a slash at the end. */
  baseUrl: string
  /** Address of the chat service, same form; absent when only `base_url` was given. */
  chatBaseUrl?: string
  /** A secret. */
  apiKey: string
  /** The uid whose calls are listed; absent: everybody's. */
  onBehalfOf?: string
  /** Further parameters of List Calls; never `page` or `perPage`. */
  query: Record<string, string>
}

export type PollConfig = {
  /** Seconds between the starts of two looks, above 0. */
  interval: number
  /** Calls asked for in one page, 1 to 1000. */
  pageSize: number
  /** A longer answer of the service is an error. */
  maxAnswerBytes: number
  /** Seconds that one request may take, above 0. */
  timeout: number
  /** Further attempts after a request's first, 0 to 20. */
  retries: number
  /** Seconds, above 0. */
  lookback: number
  /** Seconds, above 0. */
  sweepInterval: number
  /** Per address and key, at least 1. */
  maxRequestsPerMinute: number
  baseline: 'skip' | 'count'
  details: 'missing' | 'never'
  /** From a status as the service may spell it, in lower case, to a documented one. */
  statusMap: Record<string, DocumentedStatus>
}

/** The embedded store has a path, the one that several daemons share an address. */
export type StoreConfig = {
  /** Seconds, above 0. */
  history: number
} & (EmbeddedStoreConfig | SharedStoreConfig)

export type EmbeddedStoreConfig = {
  /** Relative to the working directory; `:memory:` keeps nothing. */
  path: string
}

export type SharedStoreConfig = {
  /** Of a PostgreSQL database, which may have several hosts; a secret. */
  url: string
  /** For how long a daemon lives that is not heard of: seconds, at least 1. */
  lease: number
}

export type HttpConfig = {
  host: string
  /** 0 to 65535; 0 takes a free one. */
  port: number
  /** Asked for by all but /healthz and /readyz; the password is a secret. */
  auth?: { username: string; password: string }
  /** HTTPS in place of HTTP. */
  tls?: TlsConfig
}

export type TlsConfig = {
  /** The names of the files, as the file has them. */
  certFile: string
  keyFile: string
  /** What they hold (PEM); the key is a secret. */
  cert: string
  key: string
}

export type NotifyConfig = {
  /** Seconds, 0 or more. */
  groupWait: number
  slack?: SlackConfig
  alertmanager?: AlertmanagerConfig
  webhook?: WebhookConfig
  heartbeat?: HeartbeatConfig
  digest?: DigestConfig
  /** The first that picks an alert says who is told of it; an alert that none picks goes to all. */
  routes: RouteConfig[]
  mutes: MuteConfig[]
}

export type NotifierName = 'slack' | 'webhook'

/** Alertmanager's own address, without `/api/v2/alerts`. */
export type AlertmanagerConfig = { url: string }

export type WebhookConfig = {
  /** A secret. */
  url: string
  /** Sent with each request; the values are secrets. */
  headers: Record<string, string>
}

export type HeartbeatConfig = {
  /** A secret. */
  url: string
  /** Seconds, above 0. */
  interval: number
}

export type DigestConfig = {
  /** `HH:MM`, 24 hours. */
  at: string
  /** An IANA name. */
  timezone: string
}

export type RouteConfig = { match: AlertMatch; notify: NotifierName[] }

/** While it lasts, the alerts that it picks are not told of. */
export type MuteConfig = {
  /** When it begins: five cron fields (minute, hour, day of the month, month, day of the week). */
  start: string
  /** Seconds, above 0. */
  duration: number
  timezone: string
  match: AlertMatch
}

export type SlackConfig = {
  /** A secret. */
  webhookUrl: string
  dashboardUrl?: string
}

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

export type LogConfig = { level: LogLevel }
