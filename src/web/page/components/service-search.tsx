import { foundNotes } from '../../../views/found-text.ts'
import type { FoundCalls as Answer } from '../model/api.ts'
import { addressOfFound, findWanted } from '../model/calls.ts'
import { momentInZone } from '../model/format.ts'
import { change, nowOf, type State } from '../model/state.ts'
import { Form, sameNames, Select, TextInput, type Options } from './fields.tsx'
import { Note, quiet, Section, Table, words } from './layout.tsx'

const KINDS: Options = [
  ['uid', 'a user'],
  ['guid', 'a group'],
  ['session_id', 'a session'],
]
const SINCE = sameNames(['1h', '1d', '2d', '7d'])

/** What became of somebody's calls, asked of the service. Absent where the daemon may not ask. */
export function ServiceSearch({ state }: { state: State }) {
  const { snapshot, wanted } = state
  if (snapshot?.can_find !== true) return false
  const { isLoading = false } = state.found
  const set = (changed: Partial<State['wanted']>) => change({ wanted: { ...wanted, ...changed } })
  const names = snapshot.targets.map(({ name }) => name)
  const target = wanted.target || state.target || (names[0] ?? '')
  const choices = { target: sameNames(names), by: KINDS, since: SINCE }
  const choice = (name: keyof typeof choices, label: string, value: string) => (
    <Select
      id={`wanted-${name}`}
      label={label}
      value={value}
      options={choices[name]}
      onSelect={(one) => set({ [name]: one })}
    />
  )
  return (
    <Section id="service-search" title="Ask the service">
      <Form onSend={findWanted}>
        {names.length > 1 && choice('target', 'Target', target)}
        {choice('by', 'Calls of', wanted.by)}
        <TextInput id="wanted-id" label="Id" value={wanted.id} onInput={(id) => set({ id })} />
        {wanted.by !== 'session_id' && choice('since', 'Of the last', wanted.since)}
        <button type="submit" disabled={isLoading || wanted.id === ''}>
          {isLoading ? 'Searching…' : 'Search'}
        </button>
      </Form>
      {quiet('The log says that you searched, not for whom.')}
      <FoundCalls state={state} />
    </Section>
  )
}

/** When a call began, which links to its page. */
const beganLink = (target: string, call: Answer['calls'][number], now: string) => (
  <a href={addressOfFound(target, call)}>
    {call.began === null ? 'at an unknown time' : momentInZone(call.began, now)}
  </a>
)

/** What the service has answered. */
export function FoundCalls({ state }: { state: State }) {
  const { answer, problem } = state.found
  return (
    <>
      <Note id="found-note" problem={problem}>
        {answer !== undefined && foundNotes(answer).map((note) => <p>{note}</p>)}
      </Note>
      {answer !== undefined && (
        <div id="found-calls">
          <Table
            caption="Calls that the service shows, newest first"
            columns={[
              ['Began', (call) => beganLink(answer.target, call, nowOf(state))],
              ['What happened', ({ text }) => words(text), 'said'],
            ]}
            items={answer.calls}
          />
        </div>
      )}
    </>
  )
}
