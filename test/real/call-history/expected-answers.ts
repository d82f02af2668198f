import { DAY } from '../../kit/store/place.ts'
import { RATIO } from '../../kit/alerts/sample-rules.ts'
import { ALERTS, NOW, TARGETS, type DrawnCall } from './drawn-calls.ts'

type Value = string | number | boolean | null
type ExpectedAnswer = (calls: readonly DrawnCall[]) => Value[][]

const HOUR = 3600
const isFinished = (call: DrawnCall): call is DrawnCall & { finished: number; noticed: number } =>
  call.finished !== undefined
const since = (calls: readonly DrawnCall[], from: number, to = NOW) =>
  calls.filter(isFinished).filter(({ finished }) => finished >= from && finished < to)
const durationOf = ({ status, started, finished }: DrawnCall) => (status === 'ended' ? finished! - started! : undefined)
const text = (seconds: number, length: number) =>
  new Date(Math.floor(seconds) * 1000).toISOString().replace('T', ' ').slice(0, length)
const hourOf = (seconds: number) => `${text(seconds, 13)}:00`
const sum = (numbers: readonly number[]) => numbers.reduce((all, number) => all + number, 0)
const mean = (numbers: readonly number[]) => sum(numbers) / numbers.length
const byText = (a: readonly Value[], b: readonly Value[]) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
/** One row for each group. */
const grouped = <T>(calls: readonly T[], keyOf: (call: T) => Value[], row: (group: T[]) => Value[]) =>
  [...Map.groupBy(calls, (call) => JSON.stringify(keyOf(call))).values()]
    .map((group) => [...keyOf(group[0]!), ...row(group)])
    .toSorted(byText)
const descending = (column: number) => (a: readonly Value[], b: readonly Value[]) =>
  Number(b[column]) - Number(a[column])

/** What each query of docs/sql.md and config/sql has to answer, by its heading. */
export const ANSWERS: Readonly<Record<string, ExpectedAnswer>> = {
  'Calls of yesterday by outcome': (calls) => {
    const today = Math.floor(NOW / DAY) * DAY
    const rows = grouped(since(calls, today - DAY, today), ({ status }) => [status], (group) => [group.length]) // oxfmt-ignore
    return rows.toSorted(descending(1))
  },
  'Failure ratio by hour': (calls) => {
    const failures = ['unanswered', 'rejected', 'canceled']
    const counted = since(calls, NOW - DAY).filter(({ mode, status }) => mode === 'call' && status !== 'lost')
    return grouped(
      counted,
      ({ finished }) => [hourOf(finished)],
      (group) => [group.length, mean(group.map(({ status }) => Number(failures.includes(status))))],
    )
  },
  'Minutes by target and month': (calls) =>
    grouped(
      since(calls, NOW - 35 * DAY),
      // Two hours ahead of UTC until October 25.
      ({ target, finished }) => [target, text(finished + 2 * HOUR, 7)],
      (group) => [2 * sum(group.map(({ audio }) => audio)), 2 * sum(group.map(({ video }) => video))],
    ),
  'The longest calls': (calls) =>
    since(calls, NOW - 7 * DAY)
      .flatMap((call) => {
        const duration = durationOf(call)
        return duration === undefined ? [] : [[call.target, call.id, call.type, call.mode, duration]]
      })
      .toSorted(descending(4))
      .slice(0, 10),
  '95th percentile of the duration by type': (calls) => {
    const ended = since(calls, NOW - 7 * DAY).filter((call) => durationOf(call) !== undefined)
    return grouped(
      ended,
      ({ type }) => [type],
      (group) => {
        const durations = group.map((call) => durationOf(call)!).toSorted((a, b) => a - b)
        const place = 0.95 * (durations.length - 1)
        const [below, above] = [durations[Math.floor(place)]!, durations[Math.ceil(place)]!]
        return [below + (above - below) * (place % 1)]
      },
    )
  },
  'Unanswered group calls of the last hour': (calls) =>
    grouped(
      since(calls, NOW - HOUR).filter(
        ({ receiverType, status }) => receiverType === 'group' && status === 'unanswered',
      ),
      ({ target }) => [target],
      (group) => [group.length],
    ),
  'Calls noticed late': (calls) =>
    since(calls, NOW - 7 * DAY)
      .filter(({ noticed, finished }) => noticed - finished > 60)
      .map(({ target, id, finished, noticed }) => [target, id, text(finished, 19), noticed - finished])
      .toSorted(descending(3)),
  'The busiest hour': (calls) => {
    // The most are there at the beginning of one of them.
    const at = (moment: number) =>
      calls.filter(({ began, finished = Infinity }) => began <= moment && finished > moment)
    const rows = calls
      .filter(({ began }) => began >= NOW - 7 * DAY)
      .map(({ began }): Value[] => [hourOf(began), at(began).length])
    return rows.toSorted(byText).toSorted(descending(1)).slice(0, 1)
  },
  'Lost calls': (calls) =>
    since(calls, NOW - 7 * DAY)
      .filter(({ status }) => status === 'lost')
      .toSorted((a, b) => b.finished - a.finished)
      .map(({ target, id, began, finished }) => [target, id, text(began, 19), text(finished, 19)]),
  'Calls that have been open for hours': (calls) =>
    calls
      .filter(({ status, began }) => status === 'ongoing' && began < NOW - 4 * HOUR)
      .map(({ target, id, status, participants, began }) => [
        target,
        id,
        status,
        participants ?? null,
        (NOW - began) / HOUR,
      ])
      .toSorted(descending(4)),
  'Calls with a recording': (calls) =>
    grouped(
      since(calls, NOW - 30 * DAY).filter(({ recorded }) => recorded),
      ({ target }) => [target],
      (group) => [group.length, sum(group.map(({ audio, video }) => audio + video))],
    ),
  'Answer delay by receiver type': (calls) => {
    const answered = since(calls, NOW - DAY).filter(({ status }) => status === 'ended')
    const delays = (group: readonly DrawnCall[]) => group.map(({ began, started }) => started! - began)
    return grouped(
      answered,
      ({ receiverType }) => [receiverType],
      (group) => [group.length, mean(delays(group)), Math.max(...delays(group))],
    )
  },
  'Compared with the same time last week': (calls) =>
    TARGETS.map((name) => {
      const own = calls.filter(({ target }) => target === name)
      return [name, since(own, NOW - HOUR).length, since(own, NOW - 7 * DAY - HOUR, NOW - 7 * DAY).length]
    }),
  'One call': (calls) =>
    calls
      .filter(({ target, id }) => target === 'production' && id === 'call 7')
      .map((call) => [
        call.target,
        call.id,
        call.type,
        call.mode,
        call.receiverType,
        call.status,
        call.began,
        call.finished ?? null,
        durationOf(call) ?? null,
        call.status === 'ended' ? call.started! - call.began : null,
        call.participants ?? null,
        call.audio,
        call.video,
        2 * call.audio,
        2 * call.video,
        call.recorded,
        call.noticed ?? null,
        call.id,
      ]),
  'Alerts of the last week': () =>
    grouped(
      ALERTS.filter((alert) => alert.since >= NOW - 7 * DAY),
      ({ target, rule }) => [target, rule.name],
      (group) => [group.length, sum(group.map((alert) => (alert.until ?? NOW) - alert.since)) / HOUR],
    ).toSorted(descending(3)),
  'Failed calls while alerts fired': (calls) =>
    grouped(
      ALERTS.filter(({ rule }) => rule === RATIO).flatMap(({ target, since: from, until = 0 }) =>
        since(calls, from, until).filter(
          (call) => call.target === target && ['unanswered', 'rejected', 'canceled'].includes(call.status),
        ),
      ),
      ({ target }) => [target, RATIO.name],
      (group) => [group.length],
    ).toSorted(descending(2)),
  Grafana: (calls) =>
    grouped(
      since(calls, NOW - 2 * DAY).filter(({ target }) => target === 'production'),
      ({ finished, status }) => [Math.floor(finished / 300) * 300, status],
      (group) => [group.length],
    ),
}
