import type { Declare } from './command.ts'

export const declare: Declare = (command, { loader }) =>
  void command.option('--reset-target <name>', 'delete all counts of this target first').action(async (options) => {
    // Loaded here, because `--help` does not need it.
    const { runDaemon } = await import('./run-daemon.ts')
    await runDaemon(await loader(options), options)
  })
