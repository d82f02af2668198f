import { routeOf, severityOf, subjectOf, type Config, type RuleName, type Severity } from './happenings.ts'

/** One time that an alert fires. Times are seconds since the start. */
export type Episode = {
  id: number
  target: number
  rule: RuleName
  /** Names the alert. */
  key: string
  since: number
  until?: number
  /** By the rule when it ended. */
  severity?: Severity
  /** By receiver, for how long nothing has suppressed it, and since when nothing does. */
  free: Map<string, number>
  freeSince: Map<string, number>
}

type Silence = { target?: number | undefined; rule?: RuleName | undefined; until: number }

/** Ended episodes are kept for so long (seconds). */
const KEPT_SECONDS = 4000

export type Alerts = ReturnType<typeof modelAlerts>

/** The alerts of the model, and what suppresses them. */
export function modelAlerts(config: () => Config) {
  let episodes: Episode[] = []
  let now = 0
  let ids = 0
  const silences: Silence[] = []
  /** The targets on which an outage is pending. */
  const pending = new Set<number>()

  const live = (target: number, rule: RuleName) =>
    episodes.find((one) => one.until === undefined && one.target === target && one.rule === rule)
  const severityAt = ({ rule, severity }: Pick<Episode, 'rule' | 'severity'>) => severity ?? severityOf(rule, config())
  const isLive = ({ until }: Episode) => until === undefined
  const isSentTo = (episode: Episode, receiver: string): boolean => {
    const [, receivers] = routeOf({ ...episode, severity: severityAt(episode) }, config())
    return receivers?.includes(receiver) ?? true
  }
  const isSilenced = ({ target, rule }: Episode) =>
    silences.some(
      (one) => one.until > now && [target, undefined].includes(one.target) && [rule, undefined].includes(one.rule),
    )
  /** An outage inhibits whatever is on its target, a more severe alert only for a receiver that is sent it. */
  const inhibits = (source: Episode, episode: Episode, receiver: string): boolean => {
    if (!isLive(source) || source === episode || source.target !== episode.target) return false
    return source.rule === 'OUT' || (source.rule === 'AC' && episode.rule === 'AW' && isSentTo(source, receiver))
  }

  return {
    now: () => now,
    pending,
    all: () => episodes,
    live,
    isSentTo,
    isSuppressed: (episode: Episode, receiver: string) =>
      isSilenced(episode) || episodes.some((source) => inhibits(source, episode, receiver)),
    severity: severityAt,
    /** Names the group of an alert by the configuration of now: by the worst rule that measures the same and has the same route. */
    groupOf: ({ target, rule, ...episode }: Pick<Episode, 'target' | 'rule' | 'severity'>): string => {
      const { nameB, by } = config()
      const [subject, own] = [subjectOf(rule), severityAt({ rule, ...episode })]
      const [route] = routeOf({ target, rule, severity: own }, config())
      const worst = subject === 'A' ? 'critical' : severityOf(rule, config())
      const isSame = subject === 'A' || routeOf({ target, rule, severity: worst }, config())[0] === route
      const name = subject === 'B' ? (isSame ? nameB : rule) : subject
      return JSON.stringify([route, name, isSame ? worst : own, by === 'target' ? target : null])
    },
    silence: (one: Silence) => void silences.push(one),
    fire: (target: number, rule: RuleName): void => {
      if (rule === 'OUT') pending.delete(target)
      if (live(target, rule) !== undefined) return
      const at = { id: (ids += 1), since: now, free: new Map(), freeSince: new Map() }
      episodes.push({ ...at, target, rule, key: `t${target}/${rule}` })
    },
    end: (target: number, rule: RuleName): void => {
      const episode = live(target, rule)
      if (episode !== undefined) Object.assign(episode, { until: now, severity: severityOf(rule, config()) })
    },
    pend: (target: number): void => void (live(target, 'OUT') ?? pending.add(target)),
    /** A second passes: what is free for a receiver has waited for it. */
    tick: (receivers: readonly string[]): void => {
      for (const receiver of receivers)
        for (const episode of episodes.filter(isLive)) {
          if (isSilenced(episode) || episodes.some((source) => inhibits(source, episode, receiver))) {
            episode.freeSince.delete(receiver)
            continue
          }
          episode.free.set(receiver, (episode.free.get(receiver) ?? 0) + 1)
          if (!episode.freeSince.has(receiver)) episode.freeSince.set(receiver, now)
        }
      now += 1
      if (now % 200 === 0) episodes = episodes.filter(({ until = Infinity }) => until > now - KEPT_SECONDS)
    },
  }
}
