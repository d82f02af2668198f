import { readdirSync, readFileSync } from 'node:fs'
import { startPostgres } from '../../test/kit/postgres/start-postgres.ts'
import { answer } from './answer.ts'

/** A PostgreSQL of its own that writes to disk as it would in production, and what it has used of the processor so far. */
export type DatabaseAnswer = { url: string; cpu: number }

/** The kernel counts the time of processes in hundredths of a second (proc(5)). */
const TICK = 0.01

const server = await startPostgres({ durable: true })
process.once('disconnect', () => process.kill(server.pid(), 'SIGQUIT'))

answer((): DatabaseAnswer => ({ url: server.url, cpu: cpuOf(server.pid()) }))

/** Seconds of the processor that a process and its children have used, those that have ended included. */
function cpuOf(postmaster: number): number {
  let ticks = 0
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const fields = statOf(pid)
    const [parent, own, children] = [fields[1], fields.slice(11, 13), fields.slice(13, 15)]
    const counted = Number(pid) === postmaster ? [...own, ...children] : Number(parent) === postmaster ? own : []
    ticks += counted.reduce((sum, field) => sum + Number(field), 0)
  }
  return ticks * TICK
}

/** The fields of a process from its state on; none where it has ended meanwhile. */
function statOf(pid: string): string[] {
  try {
    // Its name is in brackets, and may hold anything.
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
  } catch {
    return []
  }
}
