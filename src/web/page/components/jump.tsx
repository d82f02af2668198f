import { addressOf, openView } from '../model/address.ts'
import { change, changeNow, current, type State } from '../model/state.ts'
import { VIEWS } from '../views.tsx'
import { TextInput } from './fields.tsx'

/** Goes to a view, a target, the alerts of a rule, or the calls of a session. The key `/` shows it. */
export function Jump({ state: { snapshot, isJumping } }: { state: State }) {
  if (!isJumping) return false
  const targets = snapshot?.targets ?? []
  const rules = [...new Set(targets.flatMap((target) => target.rules.map(({ name }) => name)))]
  const names = [...shownViews().map(({ title }) => title), ...targets.map(({ name }) => name), ...rules]
  return (
    <TextInput
      onLeave={() => change({ isJumping: false })}
      id="jump"
      label="Jump to a view, a target, a rule or a session"
      names={names}
      onInput={() => undefined}
      onSelect={jump}
    />
  )
}

const shownViews = () => VIEWS.filter(({ isHidden }) => isHidden !== true)

function jump(text: string) {
  const address = addressFor(text.trim())
  change({ isJumping: false })
  if (address !== undefined) openView(address)
}

/** Where a text leads: to what has this name, or to the first whose name contains it, or else to the calls whose session begins with it. */
export function addressFor(text: string) {
  if (text === '') return undefined
  const { targets = [] } = current().snapshot ?? {}
  const names = [
    ...shownViews().map(({ title, name }) => [title, addressOf(name)] as const),
    ...targets.map(({ name }) => [name, addressOf('overview', { target: name })] as const),
    ...targets.flatMap(({ rules }) => rules).map(({ name }) => [name, addressOf('alerts', { alert: name })] as const),
  ]
  const wanted = text.toLowerCase()
  const [, address] =
    names.find(([name]) => name.toLowerCase() === wanted) ??
    names.find(([name]) => name.toLowerCase().includes(wanted)) ??
    []
  return address ?? addressOf('calls', { session_id: text })
}

/** What had the focus before the input. */
let before: Element | null = null

/** Shows the input, unless the reader writes something. Escape hides it, and the focus is where it was. */
export function showJump(event: KeyboardEvent) {
  if (event.key === 'Escape' && current().isJumping) {
    changeNow({ isJumping: false })
    if (before instanceof HTMLElement) before.focus()
  }
  const isWriting = event.target instanceof Element && event.target.matches('input, select, textarea')
  if (event.key !== '/' || isWriting || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  before = document.activeElement
  // What is typed before the next frame is for the input.
  changeNow({ isJumping: true })
}
