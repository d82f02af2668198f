import { onTestFinished, vi } from 'vitest'
import { incidentsOf } from '../../../../src/alerts/incidents.ts'
import { incidentView } from '../../../../src/views/incident.ts'
import { change, initialState, type State } from '../../../../src/web/page/model/state.ts'
import { targetView } from '../../../../src/views/state/target.ts'
import { isoTime } from '../../../../src/clock/times.ts'
import { alertView } from '../../../../src/views/alert.ts'
import type { TargetStatus } from '../../../../src/pipeline/target.ts'
import { NOW } from '../../../kit/metrics/hand-made-target.ts'

/** An element of a rendered component, with its text in single spaces. */
export type Rendered = { type: string; props: Readonly<Record<string, unknown>>; text: string }

/** Renders a component without a browser: calls its function components, and returns the elements in order. */
export function render(component: (props: { state: State }) => unknown, state: State): Rendered[] {
  const elements: Rendered[] = []
  collect({ type: component, props: { state } }, elements)
  return elements
}

/** The text of the first element with these properties. */
export function textOf(elements: readonly Rendered[], props: Readonly<Record<string, unknown>>): string | undefined {
  const matches = (one: Rendered) => Object.entries(props).every(([name, value]) => one.props[name] === value)
  return elements.find(matches)?.text
}

/** The texts of the rows of tables, their headings included. */
export const rowsOf = (elements: readonly Rendered[]) =>
  elements.flatMap(({ type, text }) => (type === 'tr' ? [text] : []))

/** Adds the elements of a node, and returns the text of the node. */
function collect(node: unknown, elements: Rendered[]): string {
  if (typeof node === 'string' || typeof node === 'number') return String(node)
  if (Array.isArray(node)) return node.map((one) => collect(one, elements)).join('')
  if (typeof node !== 'object' || node === null) return ''
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a virtual node of Preact
  const { type, props } = node as { type: unknown; props: Record<string, unknown> }
  if (typeof type === 'function') return collect(type(props), elements)
  const element = { type: String(type), props, text: '' }
  elements.push(element)
  element.text = collect(props['children'], elements).replaceAll(/\s+/g, ' ').trim()
  return ` ${element.text} `
}

/** The state of a page that shows these targets, with a snapshot that has just arrived. */
export function stateOf(
  targets: readonly TargetStatus[],
  differing: Partial<State> = {},
  problem: string | null = null,
  groupOf: Parameters<typeof alertView>[1] = ({ alert }) => ({ labels: { alert } }),
): State {
  const alerts = targets.flatMap(({ name, alerts }) =>
    [...alerts.values()].map((alert) => alertView({ target: name, instance: alert }, groupOf)),
  )
  const perMinute = { since: isoTime(NOW - 3600), step_seconds: 60, targets: [] }
  return {
    ...initialState,
    snapshot: {
      version: '1.2.3',
      now: isoTime(NOW),
      problem,
      targets: targets.map(targetView),
      alerts,
      incidents: [],
      silences: [],
      read_only: false,
      can_find: false,
      needs_config: false,
      webhooks: [],
      receivers: [{ name: 'slack', pending: 0 }],
      perMinute,
      takenAt: 0,
      agesAt: 0,
    },
    ...differing,
  }
}

/** The state of a page with the incidents of its targets, those of each rule together. */
export function amid(
  targets: readonly TargetStatus[],
  differing: Partial<State> = {},
  groupOf: Parameters<typeof incidentsOf>[1] = ({ alert }) => ({ key: alert, labels: { alert } }),
): State {
  const state = stateOf(targets, differing, undefined, groupOf)
  const lives = targets.flatMap(({ name, alerts }) =>
    [...alerts.values()].map((instance) => ({ target: name, instance })),
  )
  state.snapshot!.incidents = incidentsOf(lives, groupOf, targets.length).map(incidentView)
  return state
}

/** What the page uses of a browser when its state changes, until the test ends. */
export function withoutBrowser(): void {
  onTestFinished(() => change(initialState))
  onTestFinished(() => void vi.unstubAllGlobals())
  vi.stubGlobal('document', { hidden: false })
  vi.stubGlobal('requestAnimationFrame', () => 0)
}
