/** Seconds of the clock and of the processor that some work took; `calls` is how many it dealt with. */
export type Measured = { wall: number; cpu: number; calls: number }

/** Measures work of this process. */
export async function measure(work: () => Promise<number>): Promise<Measured> {
  const begun = performance.now()
  const before = process.cpuUsage()
  const calls = await work()
  const { user, system } = process.cpuUsage(before)
  return { wall: (performance.now() - begun) / 1000, cpu: (user + system) / 1e6, calls }
}
