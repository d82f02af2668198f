/** Seconds of the clock and of the processor, all of the process's threads together. */
export type Measured = { wall: number; cpu: number }

/** Measures work of this process. */
export async function measure<T>(work: () => Promise<T>): Promise<{ measured: Measured; result: T }> {
  const begun = performance.now()
  const before = process.cpuUsage()
  const result = await work()
  const { user, system } = process.cpuUsage(before)
  return { measured: { wall: (performance.now() - begun) / 1000, cpu: (user + system) / 1e6 }, result }
}
