#!/usr/bin/env node
// All else takes a while to load, and a signal may come meanwhile.
// oxlint-disable-next-line import/no-unassigned-import -- it is imported for what it does
import './commands/early-signals.ts'
await import('./program.ts')
