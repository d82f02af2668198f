import { expect, test } from 'vitest'
import { sharedBy, type FleetTarget } from '../../../src/alerts/fleet.ts'
import { incidentsOf } from '../../../src/alerts/incidents.ts'
import { incidentSentence } from '../../../src/alerts/text/incident-text.ts'
import { firing } from '../../kit/metrics/hand-made-target.ts'

/** Three hundred targets in three regions; `shop-eu-00` and so on. */
const REGIONS = ['eu', 'us', 'in']
const FLEET: FleetTarget[] = REGIONS.flatMap((region) =>
  Array.from({ length: 100 }, (_, i) => {
    const name = `${i < 50 ? 'shop' : 'bank'}-${region}-${String(i).padStart(2, '0')}`
    return { name, appId: name.slice(0, 7), baseUrl: `https://${name}.call-${region}.service.test/v3` }
  }),
)
const named = (pattern: RegExp) => FLEET.flatMap(({ name }) => (pattern.test(name) ? name : []))
const shared = (names: readonly string[], fleet = FLEET) => sharedBy(new Set(names), fleet)

test('failing targets share the part of the name that most of them have and others have not', () => {
  const names = [...named(/-eu-/).slice(1), ...named(/us-0[0-3]/)]
  const found = { by: 'name', value: '*-eu-*', failing: 99, of: 100, others: { failing: 4, of: 200 } }
  expect(shared(names)).toEqual(found)
  const lives = names.map((target) => ({ target, instance: firing() }))
  const groupOf = () => ({ key: '', labels: {} })
  const [incident] = incidentsOf(lives, groupOf, 300, -Infinity, FLEET)
  expect(incidentSentence(incident!)).toMatch(
    /^103 of 300 targets \(99 of 100 \*-eu-\*, 4 of 200 others\): 42.5% of 4,120 calls failed in 15 minutes/,
  )
})

test('the parts are told apart by where they stand, and regions and apps are shared where names are not', () => {
  const plain = FLEET.map((target, i) => ({ ...target, name: `t${i}`, appId: i < 60 ? 'one' : 'two' }))
  const first = (count: number) => plain.slice(0, count).map(({ name }) => name)
  expect(shared(first(100), plain)).toMatchObject({ by: 'region', value: 'eu', failing: 100, others: { failing: 0 } })
  expect(shared(first(60), plain)).toMatchObject({ by: 'app', value: 'one', failing: 60, of: 60 })
  const turned = [...FLEET, ...REGIONS.map((region) => ({ name: `${region}-shop` }))]
  expect(shared(named(/^bank/), turned)).toMatchObject({ value: 'bank-*', failing: 150, of: 150 })
})

test.each<[string, string[]]>([
  ['all fail', named(/./)],
  ['they are two', named(/eu-0[01]/)],
  ['they are of each kind', [...named(/-0[0-4]/), ...named(/-5[0-4]/)]],
  ['most of them have not what many have', [...named(/eu-[05]/), ...named(/(us|in)-[05][0-6]/)]],
])('nothing is shared where %s', (_what, names) => {
  expect(shared(names)).toBeUndefined()
})
