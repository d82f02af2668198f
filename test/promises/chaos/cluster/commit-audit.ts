import { setTimeout as wait } from 'node:timers/promises'
import type { Connection } from '../../../../src/store/postgres/connection.ts'

/** Everything that was ever committed, read from the store while it grows. */
export type CommitAudit = {
  /** Reads what has come since; called by itself each second. */
  read: () => Promise<void>
  stop: () => Promise<void>
  /** What must not be, a line each: a number that was committed twice, is missing, or under an older epoch than the one before. */
  problems: () => string[]
  commits: () => number
  /** How often targets changed hands. */
  epochs: () => number
}

type Entry = { epoch: number; at: string }

/** @param connected a connection to the server that takes commits now and logs them; undefined while none does */
export function auditCommits(connected: () => Promise<Connection | undefined>): CommitAudit {
  const byTarget = new Map<string, Map<number, Entry>>()
  const doubles: string[] = []
  const stopping = new AbortController()

  async function read(): Promise<void> {
    const connection = await connected()
    if (connection === undefined) return
    const targets = await connection.run('SELECT number, name FROM callwatch.targets')
    for (const { number, name } of targets) {
      const known = byTarget.get(String(name)) ?? new Map<number, Entry>()
      byTarget.set(String(name), known)
      // The last ones again: what a fail-over took back, and what came in its place, would be there twice.
      const from = Math.max(0, known.size - OVERLAP)
      const rows = await connection.run(
        'SELECT seq, epoch, at::text AS at FROM public.commits WHERE target = $1::int AND seq > $2::bigint ORDER BY seq',
        [Number(number), from],
      )
      for (const row of rows) note(String(name), known, row)
    }
  }

  function note(target: string, known: Map<number, Entry>, { seq, epoch, at }: Record<string, unknown>): void {
    const before = known.get(Number(seq))
    if (before !== undefined) {
      if (before.epoch !== Number(epoch) || before.at !== String(at)) doubles.push(`${target}: ${String(seq)} twice`)
      return
    }
    known.set(Number(seq), { epoch: Number(epoch), at: String(at) })
  }

  function problems(): string[] {
    const found = [...doubles]
    for (const [target, known] of byTarget) {
      let epoch = 0
      for (let seq = 1; seq <= Math.max(0, ...known.keys()); seq++) {
        const entry = known.get(seq)
        if (entry === undefined) found.push(`${target}: ${seq} is missing`)
        else if (entry.epoch < epoch) found.push(`${target}: ${seq} under epoch ${entry.epoch}, after ${epoch}`)
        epoch = entry?.epoch ?? epoch
      }
    }
    return found
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await read().catch(() => undefined)
      await wait(1000)
    }
  }
  const loop = run()
  return {
    read,
    stop: async () => {
      stopping.abort()
      await loop
    },
    problems,
    commits: () => [...byTarget.values()].reduce((sum, known) => sum + known.size, 0),
    epochs: () =>
      [...byTarget.values()].reduce(
        (sum, known) => sum + Math.max(0, ...Array.from(known.values(), ({ epoch }) => epoch)),
        0,
      ),
  }
}

const OVERLAP = 20
