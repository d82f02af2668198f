import type { Config, Happening, History, RuleName } from './happenings.ts'

/** A history that shows why a clause of the table is there, and what `r0` is told: `20 begins +t0/B - ~`. */
export type Written = {
  shows: string
  history: History
  length: number
  config?: Partial<Config>
  told: readonly string[]
}

const fire = (second: number, target: number, rule: RuleName): [number, Happening] => [
  second,
  { do: 'fire', target, rule },
]
const end = (second: number, target: number, rule: RuleName): [number, Happening] => [
  second,
  { do: 'end', target, rule },
]
const answer = (second: number, mode: 'ok' | 'lost'): [number, Happening] => [
  second,
  { do: 'answer', receiver: 'r0', mode },
]
const refuse = (second: number, subject?: string): [number, Happening] => [
  second,
  { do: 'refuse', receiver: 'r0', subject },
]
const silence = (second: number, target: number): [number, Happening] => [
  second,
  { do: 'silence', target, until: 9999 },
]
const times = (n: number, each: (i: number) => [number, Happening][]): [number, Happening][] =>
  Array.from({ length: n }, (_, i) => each(i)).flat()

export const WRITTEN: readonly Written[] = [
  {
    shows: '"all that there are" is more only if that is more than was told',
    history: [fire(1, 0, 'B')],
    length: 700,
    config: { targets: 1 },
    told: ['21 begins +t0/B - ~'],
  },
  {
    shows: 'a told alert that is silenced counts as one that fires',
    history: [fire(1, 0, 'B'), fire(1, 1, 'B'), silence(60, 0), end(200, 1, 'B')],
    length: 800,
    told: ['21 begins +t0/B,t1/B - ~', '201 changed + -t1/B ~'],
  },
  {
    shows: 'an end whose answer is lost counts as told for what fires again',
    history: [fire(1, 0, 'B'), answer(99, 'lost'), end(100, 0, 'B'), answer(101, 'ok'), fire(101, 0, 'B')],
    length: 800,
    told: ['21 begins +t0/B - ~', '101 ended + -t0/B ~', '141 changed +t0/B - ~'],
  },
  {
    shows: 'an alert that was added without an answer is told to have ended',
    history: [fire(1, 0, 'B'), fire(150, 1, 'B'), answer(149, 'lost'), answer(151, 'ok'), end(151, 1, 'B')],
    length: 800,
    told: ['21 begins +t0/B - ~', '151 changed +t1/B - ~', '152 changed + -t1/B ~'],
  },
  {
    shows: 'a refusal does not settle an attempt without an answer',
    history: [fire(1, 0, 'B'), answer(20, 'lost'), answer(21, 'ok'), refuse(21, 'B'), refuse(30), end(30, 0, 'B')],
    length: 800,
    told: ['21 begins +t0/B - ~', '36 ended + -t0/B ~'],
  },
  {
    shows: 'what flaps is told once an interval',
    history: times(8, (i) => [fire(50 * i + 1, 0, 'B'), end(50 * i + 35, 0, 'B')]),
    length: 400,
    told: [
      '21 begins +t0/B - ~',
      '36 ended + -t0/B ~',
      '171 begins +t0/B - ~',
      '186 ended + -t0/B ~',
      '321 begins +t0/B - ~',
      '336 ended + -t0/B ~',
    ],
  },
  {
    shows: 'what is told waits for no other group that is refused',
    history: [refuse(1, 'A'), fire(1, 0, 'AC'), end(40, 0, 'AC'), fire(50, 0, 'B'), end(90, 0, 'B')],
    length: 600,
    told: ['70 begins +t0/B - ~', '91 ended + -t0/B ~'],
  },
  {
    shows: 'waiting does not begin anew with a restart',
    history: [fire(1, 0, 'B'), fire(30, 1, 'B'), ...times(4, (i) => [[100 * i + 99, { do: 'crash', point: 'now' }]])],
    length: 400,
    told: ['21 begins +t0/B - ~', '141 changed +t1/B - ~'],
  },
  {
    shows: 'a receiver that is added hears nothing of before',
    history: [
      [50, { do: 'remove', receiver: 'r0' }],
      fire(60, 0, 'B'),
      end(120, 0, 'B'),
      [300, { do: 'add', receiver: 'r0' }],
    ],
    length: 600,
    told: [],
  },
  {
    shows: 'an alert is inhibited by what its receiver is sent',
    history: [fire(1, 0, 'AW'), fire(1, 0, 'AC')],
    length: 400,
    config: { variant: 1 },
    told: ['21 begins +t0/AW - ~'],
  },
  {
    shows: 'an alert waits for the time that nothing suppressed it',
    history: [fire(1, 0, 'OUT'), fire(2, 0, 'B'), end(200, 0, 'OUT'), end(204, 0, 'B')],
    length: 400,
    told: ['21 begins +t0/OUT - ~', '201 ended + -t0/OUT ~'],
  },
  {
    shows: 'a severity that rises is told at once',
    history: [fire(1, 0, 'B'), [100, { do: 'reload', change: { sevB: 'critical' } }]],
    length: 400,
    told: ['21 begins +t0/B - ~', '100 worse +t0/B - ~'],
  },
  {
    shows: 'a severity that falls ends nothing',
    history: [fire(1, 0, 'B'), [100, { do: 'reload', change: { sevB: 'warning' } }]],
    length: 400,
    config: { sevB: 'critical' },
    told: ['21 begins +t0/B - ~'],
  },
  {
    shows: 'one that flapped hides no outage of thirty others',
    history: [fire(1, 0, 'B'), end(40, 0, 'B'), ...times(30, (i) => [fire(45, i + 1, 'B')])],
    length: 400,
    config: { targets: 300 },
    told: [
      '21 begins +t0/B - ~',
      '41 ended + -t0/B ~',
      `65 begins +${Array.from({ length: 30 }, (_, i) => `t${i + 1}/B`)
        .toSorted()
        .join(',')} - ~`,
    ],
  },
  {
    shows: 'a symptom does not wait for an outage that never fires',
    history: [[1, { do: 'pend', target: 0 }], fire(1, 0, 'B')],
    length: 400,
    told: ['21 begins +t0/B - ~'],
  },
  {
    shows: 'an end goes to whoever was told the beginning, whatever the routes say now',
    history: [fire(1, 0, 'B'), end(100, 0, 'B'), [100, { do: 'reload', change: { variant: 1, sevB: 'critical' } }]],
    length: 400,
    told: ['21 begins +t0/B - ~', '100 ended + -t0/B ~'],
  },
  {
    shows: 'the severity of an end counts for an interval after it was told',
    history: [fire(1, 0, 'AW'), fire(1, 1, 'AC'), end(60, 1, 'AC'), end(180, 0, 'AW'), fire(190, 1, 'AC')],
    length: 400,
    told: ['21 begins +t0/AW,t1/AC - ~', '141 changed + -t1/AC ~', '181 ended + -t0/AW ~', '261 begins +t1/AC - ~'],
  },
  {
    shows: 'two groups of which nothing is known for certain end, too',
    history: [
      fire(1, 0, 'B'),
      fire(1, 0, 'AW'),
      answer(20, 'lost'),
      answer(22, 'ok'),
      end(22, 0, 'B'),
      end(22, 0, 'AW'),
    ],
    length: 400,
    told: ['21 begins +t0/B - ~', '22 begins +t0/AW - ~', '23 ended + -t0/B ~', '24 ended + -t0/AW ~'],
  },
]
