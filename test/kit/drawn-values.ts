import * as fc from 'fast-check'
import { runs } from './runs.ts'
import { seedsOfCommit } from './seeds-of-commit.ts'

// In CI, the commit decides what properties draw: what failed fails again, by its seed and path. Nothing is shrunk, which may take for ever.
const seeds = process.env['CI'] === 'true' ? seedsOfCommit(1).map((seed) => ({ seed, endOnFailure: true })) : []
fc.configureGlobal({ numRuns: runs(100), ...seeds[0] })
