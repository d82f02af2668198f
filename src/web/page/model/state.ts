import type { AlertPage } from './alerts/alert-page.ts'
import type { AlertChange } from '../../../views/alert.ts'
import type { StateChange } from '../../../views/state/state.ts'
import type {
  Alert,
  Call,
  CallDetails,
  FoundCalls,
  PastAlert,
  PerMinute,
  Receiver,
  Target,
  WatchedRules,
} from './api.ts'
import type { Meanwhile } from './alerts/meanwhile.ts'
import type { IncidentPage } from './alerts/incident-page.ts'
import type { ShownCharts } from './charts.ts'
import { momentInZone } from './format.ts'
import type { Usage } from './usage.ts'

type SnapshotParts = Omit<StateChange, 'targets' | 'alerts' | 'names' | 'minutes' | 'since' | 'receivers'>

/** What the stream says of now. */
export type Snapshot = Required<SnapshotParts> & {
  targets: readonly Target[]
  alerts: readonly Alert[]
  /** Undefined if they are not known. */
  receivers: Receiver[] | undefined
  perMinute: PerMinute
  /** When the last change arrived, and when the ages of targets applied, by `performance.now()`. */
  takenAt: number
  agesAt: number
}

/** A line of the live feed. */
export type FeedLine =
  | ({ id: string; kind: 'call' } & CallDetails['events'][number])
  | { id: string; kind: 'alert'; type: string; time: string; data: AlertChange }

/** What a request has led to, and when the one was made that has the answer (ISO 8601), by the clock of the server. */
export type Loaded<Answer> = {
  request: string
  answer: Answer | undefined
  problem: string | undefined
  asOf: string
  isLoading?: boolean
}

/** The loaded calls of a request. The request is '' if the parameters are wrong; `asOf` is the time of the first one. */
export type CallsList = Omit<Loaded<never>, 'answer'> & {
  calls: readonly Call[]
  /** Where older calls begin; undefined after the last one. */
  next: string | undefined
  /** How the session id begins that is being typed, and is not in the address yet. */
  typed?: string
}

const nothing = { request: '', answer: undefined, problem: undefined, asOf: '' }

/** The state of a page that has not loaded anything. */
export const initialState = {
  snapshot: undefined as Snapshot | undefined,
  /** Whether callwatch can be reached. */
  connected: true,
  /** Whether it cannot, because it asks for a password that the page does not have. */
  needsPassword: false,
  /** Whether nothing has come from a new connection yet, or nobody can see the page. Until then time stands still. */
  isWaiting: true,
  /** The time for which ages are shown, by `performance.now()`. */
  now: 0,
  /** The name of the view. */
  view: 'overview',
  /** The parameters of the address. */
  query: new URLSearchParams(),
  /** The target that the overview shows, or '' for all. */
  target: '',
  /** Whether the field is shown that leads elsewhere. */
  isJumping: false,
  /** From which row on a list is shown that has more. */
  shownFrom: 0,
  /** Those of the last seven days, newest first. */
  pastAlerts: undefined as PastAlert[] | undefined,
  /** Whether there are more of them, which are not loaded. */
  isPastCut: false,
  /** Which of those in a row are shown; '' for none. */
  openEpisodes: '',
  /** Newest first. */
  feed: [] as FeedLine[],
  /** The lines of the feed when it was paused. */
  pausedFeed: undefined as FeedLine[] | undefined,
  /** Whether lists keep their order: the reader points at one, or has the focus in one. */
  isHeld: false,
  /** Which charts are open as a table, by their ids. */
  tables: {} as Record<string, boolean>,
  /** The time of the charts under the pointer (UNIX seconds). */
  hovered: undefined as number | undefined,
  /** The time of the charts that the reader has chosen (UNIX seconds). */
  selected: undefined as number | undefined,
  /** The calls of the view. */
  calls: { ...nothing, calls: [], next: undefined } as CallsList,
  /** Whose calls the service is asked for. Not in the address, which a browser keeps. */
  wanted: { target: '', by: 'uid', id: '', since: '1d' },
  found: nothing as Loaded<FoundCalls>,
  callPage: nothing as Loaded<CallDetails>,
  /** The alerts that fired during the call, or because of it. */
  meanwhile: nothing as Loaded<readonly Meanwhile[]>,
  alertPage: nothing as Loaded<AlertPage>,
  incidentPage: nothing as Loaded<IncidentPage>,
  usage: nothing as Loaded<Usage>,
  rules: nothing as Loaded<WatchedRules>,
  /** What the last test messages have led to. */
  testing: { said: '', problem: undefined as string | undefined, isSending: false },
  /** Whether a report has all of its rows. */
  showsAllRows: false,
  /** Whether the page goes to paper, on which every list has all of its rows. */
  isPrinting: false,
  charts: nothing as Loaded<ShownCharts>,
  /** How many alerts that fire the match of the form of a silence has, and what the form has led to. */
  matched: nothing as Loaded<number>,
  silencing: { problem: undefined as string | undefined, isSending: false, done: '' },
}

/** The state of the page, which alone determines what it shows. */
export type State = typeof initialState

let state = initialState
let show: (state: State) => void = () => {}
let isDue = false
let isSoon = false
const HIDDEN_FRAME_MS = 250

export const current = () => state

/** Changes a part of the state. The page shows it in the next frame. */
export function change(changed: Partial<State>) {
  state = { ...state, ...changed }
  if (isDue) return
  isDue = true
  const flush = () => {
    isDue = false
    show(state)
  }
  // A tab in the background has no frames, but its title is visible.
  if (document.hidden) setTimeout(flush, HIDDEN_FRAME_MS)
  else requestAnimationFrame(flush)
}

/** Changes a part of the state, and shows it at once. */
export function changeNow(changed: Partial<State>) {
  state = { ...state, ...changed }
  show(state)
}

/** How long what the stream says waits for more, so that it is shown together. */
const TOGETHER_MS = 150

/** Changes a part of the state that nobody waits for. */
export function changeSoon(changed: Partial<State>) {
  state = { ...state, ...changed }
  if (isDue || isSoon) return
  isSoon = true
  setTimeout(() => {
    isSoon = false
    change({})
  }, TOGETHER_MS)
}

export function onChange(render: typeof show) {
  show = render
  change({ now: performance.now() })
}

/** The time of the snapshot (ISO 8601). */
export const nowOf = ({ snapshot }: Pick<State, 'snapshot'>) => snapshot?.now ?? ''

/** The server's clock (milliseconds since 1970). The clock of this machine may be wrong, and serves without a snapshot only. */
export function serverTime() {
  const { snapshot } = state
  if (snapshot === undefined) return Date.now()
  return Date.parse(snapshot.now) + performance.now() - snapshot.takenAt
}

type LoadedKey =
  | 'found'
  | 'callPage'
  | 'meanwhile'
  | 'alertPage'
  | 'incidentPage'
  | 'usage'
  | 'rules'
  | 'charts'
  | 'matched'
const running: Partial<Record<LoadedKey, AbortController>> = {}

/** Ends a load. */
export const stopLoading = (key: LoadedKey) => running[key]?.abort()

/**
 * Loads an answer, if no newer request replaces it. What is shown of the same request stays until then, and if it fails; charts stay until
 * the next ones are there.
 */
export async function load<Key extends LoadedKey>(
  key: Key,
  request: string,
  ask: (signal: AbortSignal) => Promise<State[Key]['answer']>,
  problem: string,
) {
  stopLoading(key)
  const { signal } = (running[key] = new AbortController())
  const known = state[key].request === request ? state[key] : nothing
  const asOf = new Date(serverTime()).toISOString()
  change({ [key]: { ...(key === 'charts' ? state[key] : known), problem: undefined, isLoading: true } })
  const kept = known.answer && ` What is shown is of ${momentInZone(known.asOf, asOf)}.`
  const outcome = await ask(signal).then(
    (answer) => ({ answer, asOf }),
    (error: unknown) => ({ problem: `${problem}: ${messageOf(error)}.${kept ?? ''}` }),
  )
  if (!signal.aborted) change({ [key]: { ...known, request, problem: undefined, isLoading: false, ...outcome } })
}

export const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
