import { hasEnded, type Notification } from '../../../../src/alerts/notification.ts'
import type { AlertMatch } from '../../../../src/alerts/match-keys.ts'
import type { AlertMessage, Message } from '../../../../src/notifications/message.ts'
import { slackMessage } from '../../../../src/notifications/receivers/slack/slack-message.ts'

/** What a message does for a person who has read all before it. `edit`: it only shows what is. */
export type Kind = 'begins' | 'worse' | 'changed' | 'reminder' | 'ended' | 'was' | 'edit' | 'other'

/** A message that arrived. Alerts are named `t1/HighFailureRate`. */
export type Told = {
  /** Seconds since the start. */
  at: number
  receiver: string
  kind: Kind
  group: AlertMatch
  isEdit: boolean
  posted: string | undefined
  /** What it says has begun, has ended, and has begun and ended meanwhile. */
  begins: string[]
  ends: string[]
  was: string[]
  /** On how many targets it says that alerts of the group fire. */
  fires: number
  /** What a phone shows. */
  title: string
  message: Message
}

/** All messages that arrived, and what each receiver knows by them. */
export function messageLog(clock: { monotonic: () => number; wall: () => number }) {
  const log: Told[] = []
  const known = new Map<string, Set<string>>()
  const knownTo = (receiver: string) => known.get(receiver) ?? known.set(receiver, new Set()).get(receiver)!

  return {
    log,
    /** What fires, by all that a receiver was told. */
    knownTo: (receiver: string): string[] => [...knownTo(receiver)].toSorted(),
    forget: (receiver: string): void => void known.delete(receiver),
    arrived: (receiver: string, message: Message): void => {
      const { text } = slackMessage(message, { now: clock.wall() })
      const of = { at: clock.monotonic(), receiver, title: text, message }
      if (message.kind !== 'alerts') {
        const nothing = { group: {}, isEdit: false, posted: undefined, begins: [], ends: [], was: [], fires: 0 }
        log.push({ ...of, ...nothing, kind: 'other' })
        return
      }
      const knows = knownTo(receiver)
      const said = saidIn(message)
      log.push({ ...of, ...said, kind: kindOf(message, said, knows) })
      for (const name of said.ends) knows.delete(name)
      for (const name of said.begins) knows.add(name)
    },
  }
}

const shortName = ({ target, alert }: Pick<Notification, 'target' | 'alert'>) => `${target}/${alert}`

function saidIn(message: AlertMessage) {
  const { group, about, thread: posted, alerts, flapped, incident } = message
  const isEdit = about === 'edit'
  const changes = alerts.map(({ notification }) => notification)
  return {
    group,
    isEdit,
    posted,
    begins: changes.filter(({ kind }) => kind === 'firing').map(shortName),
    ends: changes.filter(hasEnded).map(shortName),
    was: flapped.map(({ notification }) => shortName(notification)),
    fires: incident?.targets.firing ?? 0,
  }
}

type Said = ReturnType<typeof saidIn>

function kindOf({ about, incident }: AlertMessage, said: Said, knows: ReadonlySet<string>): Kind {
  const { begins, ends, was } = said
  if (about === 'edit') return 'edit'
  if (incident === undefined && begins.length === 0) return ends.length === 0 && was.length > 0 ? 'was' : 'ended'
  if (about === 'worse') return 'worse'
  if (ends.length === 0 && was.length === 0 && begins.every((name) => knows.has(name))) return 'reminder'
  const isFirst = !ends.some((name) => knows.has(name)) && !begins.some((name) => knows.has(name))
  return isFirst && incidentIsNew(incident, knows) ? 'begins' : 'changed'
}

/** Whether the receiver knows of nothing that fires in the incident. */
function incidentIsNew(incident: AlertMessage['incident'], knows: ReadonlySet<string>): boolean {
  return (incident?.firing ?? []).every((one) => !knows.has(shortName(one)))
}

/** A message in one line, for the output of a test. */
export const lineOf = ({ at, kind, title, begins, ends, was }: Told): string =>
  `${at} ${kind} [+${begins.length} -${ends.length} ~${was.length}] ${title}`
