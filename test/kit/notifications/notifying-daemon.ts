import { BehaviorSubject } from 'rxjs'
import { configOf, type Config } from '../../../src/config/config.ts'
import type { AlertMatch, Severity } from '../../../src/alerts/match-keys.ts'
import type { AlertMessage, Message } from '../../../src/notifications/message.ts'
import { keyOf, type MessageReceiver, type Send } from '../../../src/notifications/receiver.ts'
import { slackBot } from '../../../src/notifications/receivers/slack/slack-bot.ts'
import { openEngine } from '../../../src/store/sqlite/open-database.ts'
import { sqlInPlace } from '../../../src/store/sqlite/sqlite-sql.ts'
import { storeOn } from '../../../src/store/store-on.ts'
import { virtualClock } from '../virtual-clock.ts'
import { alertWorld } from './daemon/alert-world.ts'
import { commitChange, useReceivers } from './daemon/commit-change.ts'
import { daemonLife, type Around, type Life } from './daemon/daemon-life.ts'
import { answering } from './daemon/receiving.ts'
import { slackWorkspace, type Post, type SlackWorkspace } from './daemon/slack-workspace.ts'
import { lineOf, messageLog } from './daemon/told.ts'

/** 2026-11-20 08:15:30 UTC, a Friday. */
export const AT = Date.UTC(2026, 10, 20, 8, 15, 30) / 1000

/** A rule as the file has it. */
type FileRule = NonNullable<Parameters<typeof configOf>[0]['alerts']>[number]

/** `High` and `VeryHigh` measure the same. `Outage` inhibits all others of its target, of which nothing is known then. */
export const RULES: readonly FileRule[] = [
  { name: 'High', signal: 'failure_ratio', above: 0.3, clear: 0.2, severity: 'warning' },
  { name: 'VeryHigh', signal: 'failure_ratio', above: 0.5, clear: 0.4, severity: 'critical' },
  { name: 'Few', signal: 'calls_finished', below: 1, severity: 'warning' },
  { name: 'Outage', signal: 'poll_age', above: '5m', severity: 'critical' },
]

/** What is configured. Receivers are webhooks, bots edit their messages in Slack. `mail/ann` and `mail/ben` are recipients of one mail. */
export type Configured = {
  receivers: readonly string[]
  bots: readonly string[]
  /** The channels of bots; by default each bot has one of its own. */
  channels: Readonly<Record<string, string>>
  /** How many targets there are, by the names `t0`, `t1` and so on. */
  targets: number
  /** The section `notify` without its receivers. */
  notify: Readonly<Record<string, unknown>>
  rules: readonly FileRule[]
}

/** What a reload changes. `severity` is by the name of a rule. */
export type Reloaded = Partial<Configured> & { severity?: Readonly<Record<string, Severity>> }

export type NotifyingDaemon = Awaited<ReturnType<typeof notifyingDaemon>>

/** Where the process dies: before the next message leaves, or once one was accepted and that is not written yet. */
export type CrashPoint = 'before send' | 'after send'

const WHEN_NOTHING_IS_SAID: Configured = {
  receivers: [],
  bots: [],
  channels: {},
  targets: 3,
  notify: { group_wait: '20s', group_interval: '2m' },
  rules: RULES,
}

/**
 * The deliveries of a daemon on the virtual clock, with the wiring of the daemon and a store in memory. A test fires and ends alerts, and
 * reads what people were told.
 */
export async function notifyingDaemon(given: Partial<Configured>) {
  let configured: Configured = { ...WHEN_NOTHING_IS_SAID, ...given }
  const clock = virtualClock(AT)
  const sql = sqlInPlace(openEngine({ path: ':memory:' }), ':memory:', true)
  const { store } = storeOn(sql, { receivers: namesIn(configured), reading: sql, clock })
  const config$ = new BehaviorSubject(configFrom(configured))
  const config = () => config$.value
  const commit = (change: Parameters<typeof commitChange>[1]) => commitChange(store, change)
  const alerts = alertWorld({ clock, config, commit })
  const told = messageLog(clock)
  const around: Around = { clock, sql, alerts, config, config$, broken: { methods: [], writes: false } }
  const { answers, answer } = answering(clock)
  const slack = configured.bots.length === 0 ? undefined : await slackWorkspace(clock)
  const sending = new Set<Promise<unknown>>()
  let crashPoint: CrashPoint | undefined
  let life = daemonLife(around)

  /** The request of a bot is a real one, for which the virtual clock waits. */
  function track<T>(work: Promise<T>): Promise<T> {
    sending.add(work)
    work.finally(() => sending.delete(work)).catch(() => undefined)
    return work
  }

  /** Whoever is sent something in the second of a crash, in the order of the receivers. */
  const line = new Map<string, PromiseWithResolvers<void>>()

  /** Until all messages of this second are about to leave, and those to the receivers before have come to their end. */
  async function turnOf(name: string): Promise<void> {
    const own = Promise.withResolvers<void>()
    line.set(name, own)
    await new Promise((resolve) => setImmediate(resolve))
    for (const other of namesIn(configured)) {
      if (other === name) return
      await line.get(other)?.promise
    }
  }

  /** @param inner how a bot sends it; undefined: a webhook, which has it at once */
  function sendOf(own: Life, name: string, inner: Send | undefined): Send {
    const send = sendNow(own, name, inner)
    const inTurn = async (message: Message) => {
      await turnOf(name)
      const sent = send(message)
      await Promise.race([sent.catch(() => undefined), new Promise((resolve) => setImmediate(resolve))])
      line.get(name)?.resolve()
      line.delete(name)
      return { sent }
    }
    return async (message: Message) => {
      if (crashPoint === undefined) return send(message)
      const { sent } = await track(inTurn(message))
      return sent
    }
  }

  function sendNow(own: Life, name: string, inner: Send | undefined): (message: Message) => Promise<void | string> {
    return async (message: Message) => {
      await own.alive()
      if (crashPoint === 'before send') {
        crashPoint = undefined
        own.die()
      }
      await own.alive()
      try {
        const posted = await answer(name, message, async (arriving) => {
          const as = inner === undefined ? undefined : await track(Promise.resolve(inner(arriving)))
          told.arrived(name, arriving)
          return as
        })
        if (crashPoint === 'after send') {
          crashPoint = undefined
          own.die()
        }
        return posted
      } finally {
        await own.alive()
      }
    }
  }

  const channels = new WeakMap<MessageReceiver, string>()
  const channelOf = (bot: string) => configured.channels[bot] ?? `C${bot.toUpperCase().replaceAll(/[^A-Z\d]/g, '0')}`

  /** The receivers of a process. One that a reload does not change stays the same. */
  function receiversOf(own: Life): MessageReceiver[] {
    const known = new Map(own.receivers().map((one) => [keyOf(one), one]))
    return namesIn(configured).map((key) => {
      const name = nameOf(key)
      const channel = configured.bots.includes(name) ? channelOf(name) : undefined
      const before = known.get(key)
      if (before !== undefined && channels.get(before) === channel) return before
      if (channel === undefined) return { name, key, send: sendOf(own, key, undefined) }
      const bot = slackBot(botConfig(channel, slack!), { clock })
      const editAs = (as: AlertMessage) => {
        // Whatever an edit shows, it is one.
        const send = sendOf(own, name, async () => bot.edit(as))
        return async () => (await send({ ...as, about: 'edit' })) ?? undefined
      }
      const receiver = { ...bot, name, send: sendOf(own, name, bot.send), edit: (as: AlertMessage) => editAs(as)() }
      channels.set(receiver, channel)
      return receiver
    })
  }

  function start(): Life {
    life = daemonLife(around)
    life.setReceivers(receiversOf(life))
    life.start()
    return life
  }

  /** Advances second by second. A process that has died is started again. */
  async function advance(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      await clock.advance(1)
      await idle()
      if (!life.isDead()) continue
      start()
      await clock.advance(0)
      await idle()
    }
  }

  async function idle(): Promise<void> {
    while (sending.size > 0) {
      await Promise.allSettled(sending)
      await clock.advance(0)
    }
  }

  async function reload({ severity = {}, ...change }: Reloaded): Promise<void> {
    const before = namesIn(configured)
    const { rules = configured.rules } = change
    const severe = rules.map((rule) => ({ ...rule, ...(rule.name in severity && { severity: severity[rule.name] }) }))
    configured = { ...configured, ...change, rules: severe }
    const names = namesIn(configured)
    if (JSON.stringify(names) !== JSON.stringify(before)) await useReceivers(store, names)
    for (const name of before) if (!names.includes(name)) told.forget(name)
    life.setReceivers(receiversOf(life))
    config$.next(configFrom(configured))
    await alerts.reload()
    await clock.advance(0)
    await idle()
  }

  start()
  await clock.advance(0)
  return {
    ...alerts,
    clock,
    advance,
    reload,
    answers,
    /** All messages that arrived, oldest first. */
    log: told.log,
    /** Those of one receiver that are no edits. */
    said: (receiver: string) => told.log.filter((one) => one.receiver === receiver && !one.isEdit),
    /** The same in one line each, for the output of a test. */
    lines: (receiver: string) => told.log.flatMap((one) => (one.receiver === receiver ? lineOf(one) : [])).join('\n'),
    /** What fires, by all that a receiver was told. */
    knownTo: told.knownTo,
    /** Slack, and what people see in the channel of a bot. */
    slack: slack!,
    channel: (bot: string): Post[] => slack?.posts(channelOf(bot)) ?? [],
    failures: () => life.failures,
    silence: (match: AlertMatch, seconds: number) =>
      store.addSilence({ match, since: clock.wall(), until: clock.wall() + seconds, reason: 'maintenance' }),
    /** From now on these methods of the store fail, as the daemon uses them. */
    breakStore: (methods: readonly string[] | 'all'): void => void (around.broken.methods = methods),
    /** From now on all that the daemon writes fails, or no longer. */
    breakWrites: (isBroken: boolean): void => void (around.broken.writes = isBroken),
    /** The process dies, and the next second another one starts. */
    crash: (): void => life.die(),
    /** So does it at this point. */
    crashAt: (point: CrashPoint): void => void (crashPoint = point),
    /** The host's clock is set. */
    stepWall: (seconds: number): void => clock.stepWall(seconds),
    /** The process is halted, and another one becomes the leader. Returns how the first one goes on. */
    failover: () => {
      const old = life
      old.pause()
      start()
      return { wake: old.wake, learn: old.learn }
    },
  }
}

const nameOf = (key: string) => key.split('/')[0]!
const namesIn = ({ receivers, bots }: Pick<Configured, 'receivers' | 'bots'>): string[] => [...receivers, ...bots]

function botConfig(channel: string, { url }: SlackWorkspace): Parameters<typeof slackBot>[0] {
  return { token: 'xoxb-a-token', channel, apiUrl: url }
}

function configFrom({ targets, notify, rules, channels, ...names }: Configured): Config {
  const address = { base_url: 'http://127.0.0.1:1/v3', api_key: 'key' }
  const byName = Map.groupBy(namesIn(names), nameOf)
  const receivers = [...byName].map(([name, keys]) => ({
    name,
    webhook: { url: `https://${name}.test/${channels[name] ?? keys.join(',')}` },
  }))
  return configOf({
    targets: Array.from({ length: targets }, (_, i) => ({ name: `t${i}`, ...address })),
    alerts: [...rules],
    notify: { ...notify, receivers },
  })
}
