import type { Told } from '../daemon/told.ts'
import { notifyingDaemon, RULES, type Configured, type NotifyingDaemon } from '../notifying-daemon.ts'
import { CONFIG, routeOf, type Config, type Happening, type History, type Mode, type RuleName } from './happenings.ts'
import type { Given, Logged } from './play.ts'
import type { Answers } from './receiver.ts'

/** The rules of the daemon by their names in the model. */
const NAMES = { AW: 'High', AC: 'VeryHigh', B: 'Few', B2: 'Fewer', OUT: 'Outage' } as const satisfies Record<
  RuleName,
  string
>
const MODES: Record<Mode, Parameters<NotifyingDaemon['answers']>[1]> = {
  ok: 'ok',
  lost: 'lost',
  lostgone: 'lostgone',
  hang: { hang: 8 },
  down: 'down',
}
/** The rules on a subject. */
const ON = { A: ['High', 'VeryHigh'], B: ['Few', 'Fewer'] } as const

/** Plays a history with a daemon for so many seconds: the messages that arrive. */
export async function playDaemon(
  history: History,
  { length, receivers: names = ['r0', 'r1'], config: given = {} }: Given,
): Promise<Logged[]> {
  let config: Config = { ...CONFIG, ...given }
  let receivers = [...names]
  const d = await notifyingDaemon({ ...configured(config, receivers), targets: config.targets })
  const reload = () => d.reload(configured(config, receivers))
  const answers = new Map<string, Answers>()
  const answer = (name: string, change: Partial<Answers>) => {
    const now = { mode: 'ok' as const, refuses: undefined, ...answers.get(name), ...change }
    answers.set(name, now)
    answerAs(d, name, now)
  }

  // oxlint-disable-next-line typescript/consistent-return -- nobody reads what it returns
  async function happen(happening: Happening): Promise<unknown> {
    switch (happening.do) {
      case 'fire':
        return isLive(d, happening) ? undefined : d.fire(happening.target, NAMES[happening.rule])
      case 'end':
        return d.end(happening.target, NAMES[happening.rule])
      case 'pend':
        return isLive(d, { ...happening, rule: 'OUT' }) ? undefined : d.pend(happening.target, NAMES.OUT)
      case 'silence':
        return d.silence(matchOf(happening), happening.until - d.clock.monotonic())
      case 'answer':
        return answer(happening.receiver, { mode: happening.mode })
      case 'refuse':
        return answer(happening.receiver, { refuses: happening.subject })
      case 'crash':
        return happening.point === 'now' ? d.crash() : d.crashAt(happening.point)
      case 'reload':
        config = { ...config, ...happening.change }
        return reload()
      case 'remove':
        receivers = receivers.filter((name) => name !== happening.receiver)
        return reload()
      case 'add':
        receivers = [...receivers, happening.receiver]
        return reload()
    }
  }

  const bySecond = Map.groupBy(history, ([second]) => second)
  for (let second = 0; second < length; second += 1) {
    for (const [, happening] of bySecond.get(second) ?? []) await happen(happening)
    await d.advance(1)
  }
  return d.log.flatMap(inShort)
}

const isLive = (d: NotifyingDaemon, { target, rule }: { target: number; rule: RuleName }) =>
  d.find(target, NAMES[rule])?.instance.state === 'firing'

function matchOf({ target, rule }: { target?: number | undefined; rule?: RuleName | undefined }) {
  return { ...(target !== undefined && { target: `t${target}` }), ...(rule !== undefined && { alert: NAMES[rule] }) }
}

/** While it refuses a subject it answers as usual otherwise. Whoever cannot be reached, or hangs, refuses nothing. */
function answerAs(d: NotifyingDaemon, name: string, { mode, refuses }: Answers): void {
  d.answers(name, 'ok')
  if (mode !== 'ok') d.answers(name, MODES[mode])
  if (mode === 'down' || mode === 'hang') return
  for (const [subject, rules] of Object.entries(ON))
    if (subject === refuses) for (const rule of rules) d.answers(name, 'error', { rule })
}

function configured(config: Config, receivers: readonly string[]): Omit<Configured, 'targets' | 'bots' | 'channels'> {
  const { by, wait, interval, repeat, sevB, nameB } = config
  const rules = RULES.map((rule) => ({
    ...rule,
    repeat: `${repeat}s`,
    severity: rule.name === NAMES.B ? sevB : rule.severity,
  }))
  const notify = {
    group_by: ['alert', 'severity', ...(by === 'target' ? ['target'] : [])],
    group_wait: `${wait}s`,
    group_interval: `${interval}s`,
    routes: routesOf(config, receivers),
  }
  return {
    receivers,
    notify,
    rules: rules.map((rule) => (rule.name === NAMES.B ? { ...rule, name: NAMES[nameB] } : rule)),
  }
}

/** The routes of the model (happenings.ts), in the form of the file. */
function routesOf(config: Config, all: readonly string[]): object[] {
  const samples = {
    0: [],
    1: [{ severity: 'critical' }, {}],
    2: [{ target: 't0' }, {}],
    3: [{}],
  }[config.variant]
  return samples.map((match, route) => {
    const rule: RuleName = route === 0 ? 'AC' : 'AW'
    const [, named] = routeOf({ target: route, rule }, config)
    return { match, notify: named === null ? [...all] : all.filter((name) => named.includes(name)) }
  })
}

function inShort({ at, receiver, message, begins, ends, was }: Told): Logged[] {
  if (message.kind !== 'alerts' || message.about === 'edit') return []
  const isUnrouted = message.about === 'unrouted'
  const [news, over] = isUnrouted ? [[], begins] : [begins, ends]
  const told = new Set(message.alerts.map(({ notification: { target, alert } }) => `${target}/${alert}`))
  const flapped = was.filter((name) => !told.has(name))
  return [{ at, receiver, kind: message.about, begins: named(news), ends: named(over), was: named(flapped) }]
}

/** `t1/High` is `t1/AW` in the model. */
function named(alerts: readonly string[]): string[] {
  const names = new Map<string, string>(Object.entries(NAMES).map(([name, rule]) => [rule, name]))
  return alerts.map((alert) => alert.replace(/[^/]+$/, (rule) => names.get(rule) ?? rule)).toSorted()
}
