/** In CI, or with `RUNS=all`, a property is tried on all of so many drawn values; on a contributor's machine on a fifth. */
export const runs = (all: number): number =>
  process.env['CI'] === 'true' || process.env['RUNS'] === 'all' ? all : Math.ceil(all / 5)
