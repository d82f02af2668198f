import type { JSX } from 'preact'
import { formatNumber } from '../../../../text/format.ts'
import { addressOfAlert } from '../../model/alerts/alert-page.ts'
import { addressOf } from '../../model/address.ts'
import { valueOf } from '../../model/format.ts'
import type { ShownIncident } from '../../model/alerts/incidents.ts'
import type { Alert } from '../../model/api.ts'
import type { State } from '../../model/state.ts'
import { ROWS } from '../../model/steady.ts'
import { shownAlerts, urgencyOf } from '../../model/totals.ts'

/** Fewer targets are told apart in a list. */
const LEAST = 12
const MOST_GROUPS = 8
/** How many shades a square has. */
const SHADES = 4

/**
 * All targets as small squares, by the part of their names that the failing ones share; absent of a few targets. The worst are darkest. The
 * same elements until a square changes: a thousand are rendered once.
 */
export function squares(state: State, { incident, targets }: ShownIncident) {
  const names = state.snapshot?.targets.map(({ name }) => name) ?? []
  if (names.length < LEAST || state.target !== '' || targets.size < 2) return false
  const own = shownAlerts(state).filter((one) => one.state !== 'pending' && targets.has(one.target))
  const worst = new Map(own.toReversed().map((alert) => [alert.target, alert]))
  const highest = Math.max(...worst.values().map(({ value }) => Math.abs(value)))
  const shadeOf = (alert: Alert) => Math.max(1, Math.ceil((Math.abs(alert.value) / (highest || 1)) * SHADES))
  const groups = groupsOf(names, incident.shared?.by === 'name' ? incident.shared.value : '')
  const key = JSON.stringify([groups, [...worst].map(([name, alert]) => [name, shadeOf(alert), urgencyOf(alert)])])
  const cacheKey = JSON.stringify(incident.group)
  const before = drawn.get(cacheKey)
  if (before?.key === key) return before.element
  const element = (
    <div class="fleet">
      {groups.map(([name, of]) => (
        <div>
          {groups.length > 1 && (
            <h3>{`${name} ${formatNumber(of.filter((one) => worst.has(one)).length)} of ${formatNumber(of.length)}`}</h3>
          )}
          <ul class="plain squares" {...ROWS}>
            {of.map((target, i) => square(target, worst.get(target), { shadeOf, isFirst: i === 0 }))}
          </ul>
        </div>
      ))}
    </div>
  )
  drawn.set(cacheKey, { key, element })
  return element
}

const drawn = new Map<string, { key: string; element: JSX.Element }>()

/** One stop of the keyboard for all; the arrows go on. */
function square(
  target: string,
  alert: Alert | undefined,
  { shadeOf, isFirst }: { shadeOf: (alert: Alert) => number; isFirst: boolean },
) {
  const text = alert === undefined ? `${target}: no alert` : `${target}: ${alert.alert} ${valueOf(alert, alert.value)}`
  const address = alert === undefined ? addressOf('overview', { target }) : addressOfAlert(alert, alert.firing_since)
  const look = alert === undefined ? '' : `bad shade${shadeOf(alert)}`
  return (
    <li key={target}>
      <a class={look} href={address} aria-label={text} data-text={text} tabindex={isFirst ? 0 : -1} />
    </li>
  )
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
  const inOrder = [...byPart].toSorted(
    ([a, one], [b, other]) => Number(b === part) - Number(a === part) || other.length - one.length,
  )
  const [shown, rest] = [inOrder.slice(0, MOST_GROUPS), inOrder.slice(MOST_GROUPS).flatMap(([, of]) => of)]
  return [...shown, ...(rest.length > 0 ? [['others', rest] satisfies [string, string[]]] : [])]
}
