import type { JSX } from 'preact'
import { isBeyond } from '../../../../alerts/signal.ts'
import { formatNumber } from '../../../../text/format.ts'
import { addressOfAlert } from '../../model/alerts/alert-page.ts'
import { addressOf } from '../../model/address.ts'
import { valueOf } from '../../model/format.ts'
import { isPart, waitsFor, type ShownIncident } from '../../model/alerts/incidents.ts'
import type { Alert } from '../../model/api.ts'
import type { State } from '../../model/state.ts'
import { shownAlerts } from '../../model/totals.ts'
import { soft } from '../layout.tsx'

/** Fewer targets are told apart in a list. */
const LEAST = 12
const MOST_GROUPS = 8
/** How many shades a square has. */
const SHADES = 4

/** What a square shows. */
type Square = { target: string; text: string; address: string; look: string }

/** What tells some of the failing targets from the others: a class, and what it means. */
type Mark = { look: string; name: string; is: (alert: Alert) => boolean }

/**
 * All targets as small squares, by the part of their names that the failing ones share; absent of a few targets. The worst are darkest, and
 * marks tell which are critical or silenced, if not all are. The same elements until a square changes: a thousand are rendered once.
 */
export function squares(state: State, { incident, targets }: ShownIncident) {
  const names = state.snapshot?.targets.map(({ name }) => name) ?? []
  if (names.length < LEAST || state.target !== '' || targets.size < 2) return false
  const worst = worstByTarget(shownAlerts(state).filter((one) => isPart(one, incident)))
  const highest = Math.max(...worst.values().map(({ value }) => Math.abs(value)))
  const why = waitsFor(state)
  const all: Mark[] = [
    { look: 'framed', name: 'critical', is: ({ severity }) => severity === 'critical' },
    { look: 'round', name: 'nobody is notified', is: (alert) => why(alert) !== '' },
  ]
  const marks = all.filter(({ is }) => new Set(worst.values().map(is)).size > 1)
  const groups = groupsOf(names, incident.shared?.by === 'name' ? incident.shared.value : '').map(([name, of]) => {
    const failing = of.filter((target) => worst.has(target)).length
    const title = `${name} ${formatNumber(failing)} of ${formatNumber(of.length)}`
    return { title, squares: of.map((target) => squareOf(target, worst.get(target), { highest, why, marks })) }
  })
  const [incidentKey, key] = [JSON.stringify(incident.group), JSON.stringify(groups)]
  const before = drawn.get(incidentKey)
  if (before?.key === key) return before.element
  const element = (
    <>
      <div class="fleet">
        {groups.map((group) => (
          <div>
            {groups.length > 1 && <h3>{group.title}</h3>}
            <div class="squares" role="group" aria-label={`Targets ${group.title}`.trim()} onKeyDown={moveFocus}>
              {group.squares.map(square)}
            </div>
          </div>
        ))}
      </div>
      {marks.length > 0 && (
        <p class="marks">{marks.map(({ look, name }) => [<i class={`bad ${look}`} />, soft(name)])}</p>
      )}
    </>
  )
  drawn.set(incidentKey, { key, element })
  return element
}

/** Of each target the most severe alert, of such the worst. @param alerts the most urgent first */
function worstByTarget(alerts: readonly Alert[]) {
  const worst = new Map<string, Alert>()
  for (const alert of alerts) {
    const known = worst.get(alert.target)
    const isLess = known !== undefined && known.severity !== alert.severity
    if (known === undefined || (!isLess && isBeyond(alert, alert.value, known.value))) worst.set(alert.target, alert)
  }
  return worst
}

const drawn = new Map<string, { key: string; element: JSX.Element }>()

type Among = { highest: number; why: (alert: Alert) => string; marks: readonly Mark[] }

function squareOf(target: string, alert: Alert | undefined, { highest, why, marks }: Among): Square {
  if (alert === undefined)
    return { target, text: `${target}: no alert`, address: addressOf('overview', { target }), look: '' }
  const { breach, value, threshold } = alert
  // Below a threshold the least is the worst.
  const share = breach === 'above' ? Math.abs(value) / (highest || 1) : threshold > 0 ? 1 - value / threshold : 1
  const shade = Math.min(SHADES, Math.max(1, Math.ceil(share * SHADES)))
  const address = addressOfAlert(alert, alert.firing_since)
  const text = [`${alert.alert} ${valueOf(alert, value)}`, alert.severity, why(alert)].filter(Boolean).join(', ')
  const looks = ['bad', `shade${shade}`, ...marks.filter(({ is }) => is(alert)).map(({ look }) => look)]
  return { target, text: `${target}: ${text}`, address, look: looks.join(' ') }
}

/** One stop of the keyboard for all; the arrows go on. */
const square = ({ target, text, address, look }: Square, i: number) => (
  <a key={target} class={look} href={address} aria-label={text} data-text={text} tabindex={i === 0 ? 0 : -1} />
)

const STEPS: Record<string, 'nextElementSibling' | 'previousElementSibling'> = {
  ArrowRight: 'nextElementSibling',
  ArrowDown: 'nextElementSibling',
  ArrowLeft: 'previousElementSibling',
  ArrowUp: 'previousElementSibling',
}

function moveFocus(event: KeyboardEvent) {
  const [step, now] = [STEPS[event.key], event.target]
  if (step === undefined || !(now instanceof Element)) return
  event.preventDefault()
  const next = now[step]
  if (next instanceof HTMLElement) next.focus()
}

const SEPARATOR = /[-._]/

/**
 * The targets by the part of their names at the place where the shared one is, the largest groups first, and the rest together; all in one
 * without a shared part.
 *
 * @param shared such as `*-eu-*`; '' without one
 */
export function groupsOf(names: readonly string[], shared: string): [name: string, targets: string[]][] {
  const part = shared.replaceAll(/^\*[-._]|[-._]\*$/g, '')
  const place = names.map((name) => name.split(SEPARATOR).indexOf(part)).find((index) => index >= 0)
  if (part === '' || place === undefined) return [['', [...names]]]
  const byPart = Map.groupBy(names, (name) => name.split(SEPARATOR)[place] ?? '')
  const without = byPart.get('') ?? []
  byPart.delete('')
  const inOrder = [...byPart].toSorted(
    ([a, one], [b, other]) => Number(b === part) - Number(a === part) || other.length - one.length,
  )
  const shown = inOrder.slice(0, MOST_GROUPS)
  const rest = [...inOrder.slice(MOST_GROUPS).flatMap(([, of]) => of), ...without]
  return [...shown, ...(rest.length > 0 ? [['others', rest] satisfies [string, string[]]] : [])]
}
