import { changeAddress, addressOf, OF_ONE } from '../model/address.ts'
import { clock, readerZone, zone, zoneName } from '../model/format.ts'
import { isAllStale, isLive, isSyncing, noticesOf, polledTargets, snapshotAge } from '../model/notices.ts'
import type { State } from '../model/state.ts'
import { isUnknown, shownAlerts, shownTargets } from '../model/totals.ts'
import { viewOf, VIEWS } from '../views.tsx'
import { Select, TargetChoice, type Options } from './fields.tsx'
import { Jump } from './jump.tsx'
import { badge, LinkButton, PageSkeleton, quiet, Section, SkipLink, soft } from './layout.tsx'

/** The page as a function of the state. @param most so many parts of the view are shown */
export function Page({ state, most = Infinity }: { state: State; most?: number }) {
  const { snapshot, view } = state
  const { parts } = viewOf(state)
  const commits = snapshot?.targets.map(({ commit }) => commit).join(' ')
  // The other views show the past.
  const isStale = view === 'overview' && isAllStale(state)
  return (
    <div class={isStale ? 'page stale' : 'page'}>
      <SkipLink to="content">Skip to content</SkipLink>
      <Header state={state} />
      <Banner state={state} />
      <main id="content" tabindex={-1} data-commits={commits}>
        {snapshot === undefined ? (
          <PageSkeleton view={view} />
        ) : OF_ONE.includes(view) && isUnknown(state) ? (
          unknownTarget(state)
        ) : (
          parts.slice(0, most).map((Part) => <Part key={Part.name} state={state} />)
        )}
      </main>
    </div>
  )
}

/** Instead of a view whose address names no target of the configuration. */
const unknownTarget = ({ target, view }: State) => (
  <Section id="unknown-target" title={`There is no target ${target}.`}>
    {quiet('Its name may be mistyped, it is no longer in the configuration, or no daemon has loaded it yet.')}
    <LinkButton href={addressOf(view)}>All targets</LinkButton>
  </Section>
)

/** As many targets are in the choice of the header. */
const MOST_CHOICES = 30

function Header({ state }: { state: State }) {
  const { snapshot, target, view, query } = state
  const { length } = snapshot?.targets ?? []
  // Of more targets, the list has the search.
  const hasChoice = OF_ONE.includes(view) && length > 1 && (length <= MOST_CHOICES || target !== '')
  return (
    <header>
      <h1>callwatch</h1>
      <nav aria-label="Views">
        {VIEWS.filter(({ isHidden }) => isHidden !== true).map(({ name, title }) => {
          const href = addressOf(name, { target: query.getAll('target') })
          return (
            <a href={href} aria-current={name === view ? 'page' : undefined}>
              {title}
            </a>
          )
        })}
      </nav>
      {hasChoice && <TargetChoice state={state} most={MOST_CHOICES} />}
      <Jump state={state} />
      {zoneSelect(query)}
      <p class="now">
        {liveness(state)}
        {snapshot !== undefined && soft(` version ${snapshot.version}`)}
      </p>
    </header>
  )
}

/** The choice of the zone of all times; absent where the reader's zone is UTC. */
function zoneSelect(query: URLSearchParams) {
  const own = readerZone()
  if (own === 'UTC' && zoneName() === 'UTC') return false
  const value = zoneName() === own ? '' : (query.get('zone') ?? '')
  const options: Options = [['', `local (${own})`], ...(own === 'UTC' ? [] : [['UTC', 'UTC'] as const])]
  return <Select id="zone" label="Times" value={value} options={options} onSelect={(zone) => changeAddress({ zone })} />
}

function liveness(state: State) {
  const { snapshot, isWaiting } = state
  if (snapshot === undefined || isWaiting) return badge('connecting…')
  if (isSyncing(state)) return badge('initial sync', 'warning')
  if (!isLive(state)) return badge('not live', 'bad')
  const time = new Date(Date.parse(snapshot.now) + snapshotAge(state) * 1000).toISOString()
  const isPolled = shownTargets(state).length === 0 || polledTargets(state).length > 0
  return [
    isPolled ? badge('live', 'good') : badge('no poll succeeds', 'bad'),
    ' ',
    <time>{`${clock(time)} ${zone(time)}`}</time>,
  ]
}

/** Says why the data below are not live, and why notifications do not arrive; to screen readers without ages, which change each second. */
export function Banner({ state }: { state: State }) {
  const notices = noticesOf(state)
  const isProgress = notices.every(({ isCalm }) => isCalm)
  const firing = shownAlerts(state).filter(({ state }) => state !== 'pending')
  const alerts = [...Map.groupBy(firing, ({ alert, severity }) => `Alert ${alert}, ${severity}`)].map(
    ([name, [first, ...others]]) =>
      `${name}, on ${others.length > 0 ? `${others.length + 1} targets` : first?.target}.`,
  )
  const announced = [...notices.map(({ text }) => text), ...alerts].join(' ')
  return (
    <section aria-label="What is wrong">
      <div class="announced" role="status" aria-live="polite">
        {announced}
      </div>
      {notices.length > 0 && (
        <ul class={isProgress ? 'banner progress' : 'banner'} aria-label={isProgress ? 'Notes' : 'Problems'}>
          {notices.map(({ text, age }) => (
            <li>
              {text} {age !== '' && <strong>{`(${age})`}</strong>}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
