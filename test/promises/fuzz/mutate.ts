/** Values that no field of a call should have. */
const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  false,
  '',
  ' ',
  '-1',
  '1e309',
  'NaN',
  '0x10',
  'ended',
  'other',
  '__proto__',
  'constructor',
  '\u0000',
  '\ud800',
  '.',
  '..',
  '../calls',
  0,
  -0,
  -1,
  0.1,
  1e-320,
  1e18,
  1e308,
  -1e308,
  2 ** 53,
  1_790_000_000_000,
  [],
  {},
  [[]],
  [null],
  [1, 'a', {}],
  { $numberLong: '5' },
  { error: {} },
]

/** @param draw from 0 to 1 */
export function mutate(text: string, draw: () => number): string {
  return draw() < 0.6 ? mutateJson(text, draw) : mutateText(text, draw)
}

/** Still JSON, but with some of its values replaced, removed, moved or doubled. */
function mutateJson(text: string, draw: () => number): string {
  const root: { value: unknown } = { value: JSON.parse(text) }
  for (let n = 1 + Math.floor(draw() * 4); n > 0; n--) {
    const places = placesOf(root)
    if (places.length === 0) break
    const [holder, key] = places[Math.floor(draw() * places.length)]!
    const act = draw()
    if (act < 0.65) holder[key] = structuredClone(ODD_VALUES[Math.floor(draw() * ODD_VALUES.length)])
    else if (act < 0.8) delete holder[key]
    else {
      const [other, otherKey] = places[Math.floor(draw() * places.length)]!
      holder[key] = structuredClone(other[otherKey])
    }
  }
  return JSON.stringify(root.value) ?? 'undefined'
}

/** Characters changed, left out, doubled or cut off. */
function mutateText(text: string, draw: () => number): string {
  const at = Math.floor(draw() * text.length)
  const act = draw()
  if (act < 0.3) return text.slice(0, at)
  if (act < 0.6) return text.slice(0, at) + String.fromCharCode(Math.floor(draw() * 0xffff)) + text.slice(at + 1)
  if (act < 0.8) return text.slice(0, at) + text.slice(at + 1 + Math.floor(draw() * 10))
  return text.slice(0, at) + text.slice(Math.floor(draw() * at))
}

type Holder = Record<string, unknown>

function isHolder(value: unknown): value is Holder {
  return typeof value === 'object' && value !== null
}

function placesOf(root: { value: unknown }): (readonly [Holder, string])[] {
  const places: (readonly [Holder, string])[] = []
  const visit = (holder: Holder) => {
    for (const [key, value] of Object.entries(holder)) {
      places.push([holder, key])
      if (isHolder(value)) visit(value)
    }
  }
  visit(root)
  return places
}
